(* frames: a program whose runtime looks return addresses up: the collector,
   exceptions, backtraces, an overflow of the stack that a signal tells of. *)
exception Found of int

let rec deep n = if n = 0 then raise (Found 7) else 1 + deep (n - 1)
let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
let choose = function
  | 0 -> 5 | 1 -> 77 | 2 -> 3 | 3 -> 8 | 4 -> 1 | 5 -> 42 | _ -> 0

let () =
  let sum = ref 0 in
  for i = 0 to 999 do sum := !sum + choose (i mod 8) done;
  for _ = 0 to 9 do
    (try ignore (deep 100) with Found n -> sum := !sum + n)
  done;
  let strings = List.init 20000 (fun i -> string_of_int (i * 7919 mod 10007)) in
  Gc.compact ();
  let sorted = List.sort compare strings in
  let table = Hashtbl.create 10 in
  List.iter (fun s -> Hashtbl.replace table s (String.length s)) sorted;
  Gc.full_major ();
  Printf.printf "%d %d %s %d\n" (!sum + fib 15) (Hashtbl.length table)
    (List.nth sorted 777) (Hashtbl.fold (fun _ n a -> a + n) table 0);
  (* its handlers go on where others jump to *)
  print_string (Arg.usage_string ["-x", Arg.Unit ignore, "an option"] "usage");
  (try
     let rec endless n = 1 + endless (n + 1) in
     Printf.printf "%d\n" (endless 0)
   with Stack_overflow -> print_endline "overflow");
  Printexc.record_backtrace true;
  try ignore (deep 3) with Found _ -> Printexc.print_backtrace stdout
