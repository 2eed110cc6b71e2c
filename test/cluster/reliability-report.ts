/** `docs/reliability.md`: what a storm did and what came of it. */
import { cpus, release, totalmem } from 'node:os'
import { damageSection } from './damage-section.ts'
import { databaseSection } from './database-section.ts'
import { faultKinds } from './faults.ts'
import type { StormFigures } from './storm.ts'
import { tortureSection } from './torture-section.ts'

export function reliabilityReport(figures: StormFigures, seed: { readonly date: string }): string {
  const { notes, ticks, switches } = figures
  const requests = Object.values(figures.statuses).reduce((total, times) => total + times, 0)
  const refused = Object.entries(figures.statuses)
    .filter(([what]) => what.endsWith(' 503'))
    .reduce((total, [, times]) => total + times, 0)
  return `# Reliability

<!-- Made by npm run prove. Do not edit. -->

The promises of a cluster and the result of testing them: three node processes on one PostgreSQL behind a round-robin load
balancer, under constant load. Nodes are killed with -9, PostgreSQL is stopped and killed, and the connection of a node to
PostgreSQL is cut for longer than the node's lease.

\`\`\`sh
npm run prove                  # this, about ${Math.ceil((figures.lasted + 60) / 60)} minutes; writes this page
npm run prove -- --seconds 900 # longer: 45 s for every fault once
npx vitest run test/cluster    # the short form, part of npm run test:all
\`\`\`

\`npm run prove\` is \`npm run torture -- --only reliability --seconds 270 --pages\`: six rounds, then its control, in which clients
count a note as stored when they send it.

## Promises

| Promise | Checked with | Broken |
| --- | --- | --- |
| An acknowledged write is never lost | ${count(notes.acknowledged)} notes whose 201 was received | ${notes.missing} |
| A committed job is run at least once | the jobs of ${count(notes.acknowledged + notes.unanswered - notes.unansweredMissing)} notes | ${notes.unhandled} |
| A tick of a schedule fires exactly once, and none is forgotten | ${count(ticks.ticks)} ticks of ${ticks.schedules} schedules | ${ticks.gaps + ticks.doubles + ticks.undone + ticks.strays + ticks.unwritten} |
| After the answer to a deactivation no node serves the route | ${count(switches.asked)} requests after ${count(switches.deactivations)} deactivations and ${count(switches.activations)} activations | ${switches.wrong.length} |
| A client gets the reply it asked for, or 503 with \`retry-after\` | ${count(requests)} requests of ${figures.clients} clients | ${figures.unexpected.length} |
| A node recovers on its own once the fault is gone | ${figures.faults.length} faults | ${figures.faults.filter(({ recovered }) => recovered.includes('never')).length} |

## Faults

Milliseconds from the end of a fault (PostgreSQL answers, the connection works, the node is started) until each affected node
answered a request that reads the database.

| Fault | Times | Lasted (median) | Until a node serves: median | longest |
| --- | --- | --- | --- | --- |
${faultRows(figures)}

## Figures

- The storm lasted ${figures.lasted} s; ${requests === 0 ? 0 : Math.round(requests / figures.lasted)} requests a second, of which ${count(refused)} (${((100 * refused) / Math.max(1, requests)).toFixed(1)} %) were answered with 503. The slowest answer
  took ${count(figures.slowest)} ms, the longest time without any acknowledged write was ${count(figures.silence)} ms.
- ${count(notes.unanswered)} notes were sent and not acknowledged; ${count(notes.unansweredMissing)} of them are not stored. Control: counting notes as stored before the
  reply would have reported these as lost, so the check can fail.
- Jobs run again, which at least once allows: ${notes.repeats} of notes, ${ticks.repeats} of ticks. ${count(ticks.late)} ticks fired late, because no node could fire them
  in time.
- After the last fault all work in progress ended within ${figures.settled} ms. A killed node's jobs are taken over when their
  lease of 15 s has ended.
- The longest wait for the answer to an activation or deactivation was ${count(Math.round(switches.slowest))} ms: as long as the lease (6 s) of a node that could not
  be reached. ${count(switches.fenced)} requests were refused by nodes that had lost contact with the others.

Replies: ${Object.entries(figures.statuses)
    .map(([what, times]) => `${what} × ${count(times)}`)
    .join(', ')}.

${tortureSection}
${databaseSection}
${damageSection}
## The machine

${seed.date}, Node ${process.version} on ${process.platform} ${release()}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB. The nodes,
PostgreSQL 18 (\`fsync\` on), the load balancer and the clients share it, so the figures are no measure of speed.

## Not covered

- A power cut: \`kill -9\` of PostgreSQL ends its processes, but not the machine, whose memory still reaches the disk.
- A failover to a standby: see [growing.md](growing.md).
- A node whose process is frozen for longer than its lease and then resumes.
- A virtual machine that its host pauses without setting its clock: see [growing.md](growing.md).
`
}

function faultRows({ faults }: StormFigures): string {
  const rows = faultKinds.flatMap((kind) => {
    const those = faults.filter((fault) => fault.kind === kind)
    if (those.length === 0) return []
    const times = those
      .flatMap(({ recovered }) => recovered)
      .map((time) => (time === 'never' ? Number.POSITIVE_INFINITY : time))
    const lasted = median(those.map((fault) => fault.lasted))
    return [
      `| ${kind} | ${those.length} | ${count(lasted)} | ${count(median(times))} | ${count(Math.max(...times))} |`,
    ]
  })
  return rows.join('\n')
}

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

function count(number: number): string {
  return number.toLocaleString('en-US')
}
