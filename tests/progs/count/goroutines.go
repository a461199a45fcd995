// goroutines: what Go's runtime does with stacks and threads, for count/go.t.
// mark() is called as often as each part says: no more and no less.
package main

import (
	"crypto/elliptic"
	"os"
	"runtime"
	"strconv"
	"sync"
)

type node struct{ left, right *node }

var marks int

//go:noinline
//go:nosplit
func mark(n int) int { return n + 1 }

func say(words ...string) {
	for _, w := range words {
		os.Stdout.WriteString(w + " ")
	}
	os.Stdout.WriteString("\n")
}

// memory for the collector: marks 2^(depth+1) - 1
func tree(depth int) *node {
	mark(depth)
	if depth == 0 {
		return &node{}
	}
	return &node{tree(depth - 1), tree(depth - 1)}
}

func (n *node) count() int {
	if n.left == nil {
		return 1
	}
	return 1 + n.left.count() + n.right.count()
}

// the stack grows, and is copied
func deep(n int) int {
	var room [64]int
	room[n%64] = mark(n)
	if n == 0 {
		return 1
	}
	return deep(n-1) + room[n%64] - n
}

// a fault becomes a panic, which is recovered from
//
//go:noinline
func fault(p *node) (s string) {
	defer func() {
		if r := recover(); r != nil {
			mark(1)
			s = r.(error).Error()
		}
	}()
	p.left = p
	return "none"
}

// no calls in it: the collector has to interrupt it
//
//go:noinline
func tight(n int) int {
	x := 1
	for i := 0; i < n; i++ {
		x = x*3 + i
	}
	return x
}

func preempted(n int) {
	done := make(chan int)
	for g := 0; g < 2; g++ {
		go func() { done <- tight(n) }()
	}
	for i := 0; i < 20; i++ {
		runtime.GC()
		mark(i)
	}
	say("tight", strconv.Itoa(<-done), strconv.Itoa(<-done))
}

func many(n int) {
	var all sync.WaitGroup
	var lock sync.Mutex
	total := 0
	for i := 0; i < n; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			runtime.Gosched()
			lock.Lock()
			total += mark(i) - i
			lock.Unlock()
		}(i)
	}
	all.Wait()
	say("many", strconv.Itoa(total))
}

// children that share memory until they execute this program, while other
// threads do the same
func spawn(n int) {
	var all sync.WaitGroup
	none := &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}}
	for g := 0; g < 4; g++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := 0; i < n/4; i++ {
				p, err := os.StartProcess(os.Args[0],
					[]string{os.Args[0], "exit", "1"}, none)
				if err != nil {
					panic(err)
				}
				p.Wait()
			}
		}()
	}
	all.Wait()
	say("spawn")
}

// assembly that keeps values in registers of veneers across calls
func curve(n int) {
	c := elliptic.P256()
	x, y := c.ScalarBaseMult([]byte{byte(n), 2, 3})
	for i := 0; i < n; i++ {
		x, y = c.Double(x, y)
		mark(i)
	}
	say("curve", x.String(), y.String())
}

func where() {
	pc := make([]uintptr, 8)
	frames := runtime.CallersFrames(pc[:runtime.Callers(0, pc)])
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		say(f.Function, strconv.Itoa(f.Line))
	}
}

func main() {
	n, _ := strconv.Atoi(os.Args[2])
	switch os.Args[1] {
	case "tree":
		say("tree", strconv.Itoa(tree(n).count()))
	case "deep":
		say("deep", strconv.Itoa(deep(n)))
	case "fault":
		for i := 0; i < n; i++ {
			say(fault(nil))
		}
	case "tight":
		preempted(n)
	case "many":
		many(n)
	case "curve":
		curve(n)
	case "spawn":
		spawn(n)
	case "where":
		where()
	case "exit":
		go func() {
			for i := 0; i < n; i++ {
				mark(i)
			}
			os.Exit(7)
		}()
		select {}
	case "crash":
		var p *node
		p.left = p
	}
}
