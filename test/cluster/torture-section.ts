/** The part of `docs/reliability.md` about the other checks. Figures come from runs; each row says its command. */
export const tortureSection = `## Other checks

Each is a part of \`npm run torture\`, takes a seed (\`--seed N\`) and a length (\`--seconds N\`), and has a control: the same check
against a deliberately broken system, which it must detect. The machine was busy with other work during these runs.

| Command: \`npm run torture -- --only …\` | What it checks | Run | Broken |
| --- | --- | --- | --- |
| \`simulation\` | Queue, schedules and group commit in virtual time. | 278,208 checks in 2,050 interleavings, 3,825 a minute (\`--seconds 30 --seed 1\`, two cores with a load of 11) | 0 |
| \`consistency\` | Concurrent clients of one process and of two PostgreSQL nodes see one history. | 6,861 calls, those of a third deployment that has been removed since among them: 2,427 of shared documents, 1,565 lists, 352 orders, 96 races for a name (\`--seconds 90 --seed 1\`) | 0 |
| \`kill\` | The same clients while processes are ended with kill -9 and started again; then \`PRAGMA integrity_check\`. | 6 kills, 846 checks (\`--seconds 30 --seed 5\`) | 0 |
| \`full-disk\` | On a full disk acknowledged writes are readable, refused ones are not stored, deletes and sign-ins work; the same after two kills and starts. Writes work again when there is space. Requires root on Linux; otherwise it is skipped with a message. | 4,428 checks, 488 documents until the disk was full | 0 |

The parts \`access-matrix\` and \`fuzz\` are in [security.md](security.md). Every part watches each server. It fails when an event loop is busy for
more than 50 ms of processor time between two turns, or when a process has more than 1 GiB of memory. The first three seconds of
requests and the first request to each path are reported separately and not limited: the first reply of a route compiles its
serialiser, 50 to 110 ms, once in each process.

In two runs of \`reliability\`, on a machine with a load of 11 to 15, a node was busy for 88 and 67 ms, probably while it compiled a
deployed blueprint in one turn (85 ms for 40 schedules). Blueprints are now compiled in several turns, and the longest turn is 40 ms
(\`--only reliability --seconds 60 --seed 3\`). The largest of the other parts is 46 ms.

### Concurrent clients

Twelve clients record each call with the times of its request and its reply. Then the whole history is checked:

- Each document that several clients read, set, count up and update by \`update_hash\` is linearizable: there is one order of all
  calls, each between its request and its reply, that explains every reply. A call without a reply may have happened or not.
- Lists, and documents that are written together in one run, show one moment, and all lists together fit one order of all changes.
- A failed run leaves no changes. Of several clients that request the same user name or storage name, one gets it. An order that is sent
  again under its idempotency key is stored once, and its job runs.
- On one process a list and its \`total\` are of one moment. On PostgreSQL they are two reads; differences are counted, not failed.

The choices of the clients come from the seed. How their calls interleave does not, so reproducing a failure may take several runs.
Controls: ten transports that each falsify replies in one way, such as an old reply to GET, a dropped PUT, a doubled increment.

### Simulation

Queue workers, schedulers and the writer of the embedded engine run on a real SQLite file in virtual time: their clock, timers and
randomness are arguments. Nodes are killed, stopped and cut off from the database, clocks differ, replies and wake-ups are late,
lost or doubled, statements fail. The same seed gives the same interleaving, step by step, and a failure names its seed. Interleavings run
on all cores, with the files in memory. One of the writer takes 3 ms of processor time, one of nodes 55 ms.

- Every committed job ends done or dead, and a done job ran to its end. A worker that lost its lease cannot end a job of another.
- Claims follow priority, time and order key, and the concurrency of the queue. Waits after failures double.
- Each tick of a schedule is in the ledger once, none is missing, and a tick has at most one job.
- A group commit acknowledges nothing before its COMMIT. A failed segment does not affect the others, unless SQLite undoes the whole
  transaction, and no segment is ever stored in part.

Controls: a writer that acknowledges before the COMMIT, one that keeps undone writes, workers without a fence, workers that end a job
before they run it, a scheduler without its guards, and one that forgets jobs. A short form of these and of the concurrent clients is
part of \`npm run test:all\`.
`
