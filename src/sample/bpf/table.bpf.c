/*
 * table: the program that the kernel runs at each sample: it counts it
 * (four_way.h), with nothing to wait for and nothing to wake.
 *
 * Samples in the kernel are counted by process as those in user mode are: so
 * each process has all of its own, and there is one table to look into.
 *
 * User space empties a generation when no CPU counts in it any more. It sets
 * the new one, then waits until the CPU is not busy; here we are busy, then
 * ask which generation it is. Both make the other see what they did first (the
 * exchanges are full barriers), so that a CPU that is not seen busy has seen
 * the new one. Interrupts do not nest here: the kernel runs one program of
 * samples at a time on a CPU.
 *
 * What is constant while it is loaded (.rodata) the verifier takes for what it
 * is, and leaves out what cannot happen.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "sample/bpf/four_way.h"

/* what we use of the kernel's, wherever it has it */
struct task_struct {
	int pid, tgid;
	struct task_struct *group_leader;
	uint64_t start_time;
	uint64_t self_exec_id;
} __attribute__((preserve_access_index));

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} __attribute__((preserve_access_index));

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} __attribute__((preserve_access_index));

/* all maps have a part for each CPU; user space says how many there are */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct four_way_cpu);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 2 * FOUR_WAY_SETS);
	__type(key, uint32_t);
	__type(value, struct four_way_set);
} sets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 2 * FOUR_WAY_SPILL);
	__type(key, uint32_t);
	__type(value, struct four_way_entry);
} spill SEC(".maps");

/* words that the kernel shows of the registers of the interrupted code */
const volatile uint32_t register_words;
const volatile uint32_t events; /* how many there are */
const volatile uint32_t bursts; /* a bit for each event that has some */
/* samples are not looked at: what an interrupt costs without us */
const volatile uint32_t nothing;

/*
 * The address is word 32 of 34 on the one machine, word 16 of 21 on the other.
 * A load at a place that is not constant is not allowed, nor one that the
 * compiler makes of the two.
 */
static inline uint64_t address_of(void *ctx)
{
	uint64_t address;

	if (register_words == 34)
		asm volatile("%0 = *(u64 *)(%1 + 256)"
			     : "=r"(address) : "r"(ctx));
	else
		asm volatile("%0 = *(u64 *)(%1 + 128)"
			     : "=r"(address) : "r"(ctx));
	return address;
}

/* which of the events it is */
static inline uint32_t event_of(void *ctx)
{
	return events > 1 ? (uint32_t)bpf_get_attach_cookie(ctx) : 0;
}

/*
 * Whether the burst is over. The daemon may have no processor just now to end
 * it, and would have to be woken, so it ends by itself: the event has one
 * overflow left, and only what this program does not answer with 0 is one.
 */
static inline int is_over(void *ctx, struct four_way_cpu *c)
{
	uint32_t bit = 1u << (event_of(ctx) & 31);

	if (!(bursts & bit) ||
	    bpf_ktime_get_ns() <= *(volatile uint64_t *)&c->until)
		return 0;
	__sync_fetch_and_and(&c->lit, ~bit);
	return 1;
}

static inline uint64_t birth_of(struct task_struct *leader)
{
	return leader->start_time >> FOUR_WAY_BIRTH_UNIT;
}

/* what has to leave its set is kept, if there is room */
static inline void keep(struct four_way_cpu *c, uint32_t area,
			uint32_t generation, struct four_way_entry *gone)
{
	uint32_t n = c->spilled[generation];
	uint32_t at = area * FOUR_WAY_SPILL + n;
	struct four_way_entry *to;

	to = n < FOUR_WAY_SPILL ? bpf_map_lookup_elem(&spill, &at) : 0;
	if (!to) {
		c->lost[four_way_event(gone->place)] +=
			four_way_samples(gone);
		return;
	}
	*to = *gone;
	c->spilled[generation] = n + 1;
}

static inline void count_in(struct four_way_cpu *c, uint32_t cpu,
			    struct task_struct *task, uint64_t place)
{
	uint32_t now = *(volatile uint32_t *)&c->now, generation = now & 1;
	uint64_t who = four_way_who((uint32_t)task->tgid, task->self_exec_id,
				    birth_of(task->group_leader), now >> 1);
	uint32_t area = 2 * cpu + generation;
	uint32_t at = area * FOUR_WAY_SETS + four_way_hash(place, who);
	struct four_way_set *s = bpf_map_lookup_elem(&sets, &at);
	struct four_way_entry gone;

	if (!s) {
		c->lost[four_way_event(place)]++;
		return;
	}
	gone = four_way_count(s, place, who);
	if (four_way_samples(&gone))
		keep(c, area, generation, &gone);
}

SEC("perf_event")
int count_sample(void *ctx)
{
	struct task_struct *task;
	struct four_way_cpu *c;
	uint64_t place;
	uint32_t cpu = bpf_get_smp_processor_id();

	if (nothing && !bursts)
		return 0;
	c = bpf_map_lookup_elem(&cpus, &cpu);
	if (!c)
		return 0;
	if (is_over(ctx, c))
		return 1;
	task = bpf_get_current_task_btf();
	if (nothing || !task->tgid)
		return 0; /* the CPU is idle */
	place = four_way_place(address_of(ctx), event_of(ctx));
	__sync_lock_test_and_set(&c->busy, 1);
	count_in(c, cpu, task, place);
	__sync_lock_test_and_set(&c->busy, 0);
	return 0;
}

/* tells all processes, when user space reads it */
SEC("iter/task")
int census(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct four_way_citizen x = {0};

	if (!task || task->pid != task->tgid)
		return 0;
	x.pid = (uint32_t)task->tgid;
	x.exec = (uint32_t)task->self_exec_id;
	x.birth = (uint32_t)birth_of(task);
	x.time = bpf_ktime_get_ns();
	bpf_seq_write(ctx->meta->seq, &x, sizeof x);
	return 0;
}

/* what the kernel asks for before it shows what is its own */
char terms[] SEC("license") = "Dual MIT/GPL";
