import type { Goal, Reached } from './alone/goal.ts'
import { linesBelow } from './report-lines.ts'

const HEADING = '## Goals of Quoin alone'
const heads = ['Work', 'measured', 'goal', 'when']

export interface GoalOutcome {
  readonly goal: Goal
  /** A text: why it has no figures. */
  readonly reached: Reached | string
}

type Version = { readonly date: string; readonly commit: string }

function lineOf({ goal, reached }: GoalOutcome, { date, commit }: Version): string {
  const [found, met] =
    typeof reached === 'string' ? ['void', ''] : [reached.found, reached.met ? ' met' : ' **missed**']
  return `| ${[goal.title, found, `${goal.goal}${met}`, `${date}, ${commit}`].join(' | ')} |`
}

/** For the terminal. */
export function goalLine({ goal, reached }: GoalOutcome): string {
  if (typeof reached === 'string') return `${goal.title}: void. ${reached}`
  return `${goal.title}: ${reached.found} (${goal.goal}: ${reached.met ? 'met' : 'missed'})`
}

/** The section with these lines in place of those of the same works in `report`, in the order of `titles`. */
export function goalsSection(
  outcomes: readonly GoalOutcome[],
  report: string,
  titles: readonly string[],
  version: Version,
): string {
  const lines = new Map(linesBelow(report, HEADING, 1))
  for (const outcome of outcomes) lines.set(outcome.goal.title, lineOf(outcome, version))
  const table = [
    `| ${heads.join(' | ')} |`,
    `| ${heads.map(() => '---').join(' | ')} |`,
    ...titles.map((title) => lines.get(title)).filter((line) => line !== undefined),
  ]
  return `${HEADING}

The other goals, without a comparison. \`npm run bench -- --only <name>\` measures one of them.

${table.join('\n')}

- *List with the total*: 20 lists, of all tasks and of 19 statuses, then an update, and so on; on two servers in turns.
- *Free text*: ten kinds of texts (frequent and rare words, two words, either of two, one without another, begin of a word,
  phrase, one wrong letter), as many of each, one request at a time, no text twice between two writes. The articles have
  30 words, as frequent as in a language. Over a million of them PostgreSQL refuses a word with a wrong letter, which it would compare with more than 25 million
  words. It answers one with 0.6 s of its processor time over 100,000 articles and 1.2 s over 200,000. On a busy machine (load average 14, medians of 7, in turns) such
  a search took 3.2 and 4.1 s, where it had taken 6.1 and 7.5 s when the node read the documents with the first letter.
- *Figures of groups on PostgreSQL*: the row was measured before groups by month took one pass of the index, and before groups of one field were those of its key. Processor
  time of one backend since, the first time, without parallel workers, at a load average of 30 (medians of 5, 2026-11-29, before → after): count 630 → 315 ms, count and sum
  638 → 393, the same of a third 254 → 143, sum by month 584 and 478, which has not changed since (1,086 of all processes in two passes). Of the count's 315, 305 are PostgreSQL's scan of an
  index of 144 MB with \`GROUP BY\` its first column.
- *500 blocks*: copies of the tasks example. They are compiled in turns between which requests run, and the longest one counts, in processor
  time. A deploy also reads and stores the blocks. 32 requests are in flight at all times.
- *1,000 blueprints*: each with two endpoints. Routing means finding one of 2,000 endpoints by method and path.
- *Deploy on three nodes*: from the request that saves until each node has replied with the new literal. All nodes and PostgreSQL share the machine.
  It was measured on a busy machine only, where most of the time is waiting for a core: the three nodes together take 140 to 173 ms of processor time.
- *Sign-in page*: the page, its styles and scripts, with brotli. The studio behind it is loaded while users type.
- *First start*: \`npm install\` of what runs, both builds, and the start, in a fresh clone.
- *Agents*: one client, one request at a time, with a key for each hundred messages; the second half of them. An idle agent has listed the tools over a connection
  that stays open; memory is read 45 seconds after the last of them. \`run_code\` doubles a number, beside a flow without it in turns.
- *References*: each page with its total, after a write to each of the three storages, which drops what was cached.
- *Total asked again*: one request at a time, at a new address each time; after a write of a task that does not match.
- *Figures of groups*: in the process of the server, as a request gets them. Asked first after a write to the storage, and again with
  nothing written since. PostgreSQL is vacuumed and analysed after it is filled.
- *Upgrade*: with 60,000 documents none of 17,471 requests failed, at a load average of 47 (moved after 125 s, 115 MB of log). With 200,000, at one of 44 to 74, 109 of 12,714
  were answered with 503 and the others as they should be. A second run showed why: with so little of a processor a node does not renew its lease within 6 s, and answers nothing until it has
  (\`This node has lost its connection to the cluster\`), the former version before the upgrade too.
- *Idle memory*: the resident memory of a server with the tasks example, 45 seconds after its start. It has run no flow, so that it has no thread of the watchdog (7 MB).
`
}
