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
- *500 blocks*: copies of the tasks example. They are compiled in turns between which requests run, and the longest one counts, in processor
  time. A deploy also reads and stores the blocks. 32 requests are in flight at all times.
- *1,000 blueprints*: each with two endpoints. Routing means finding one of 2,000 endpoints by method and path.
- *Deploy on three nodes*: from the request that saves until each node has replied with the new literal. All nodes and PostgreSQL share the machine.
- *Sign-in page*: the page, its styles and scripts, with brotli. The studio behind it is loaded while users type.
- *First start*: \`npm install\` of what runs, both builds, and the start, in a fresh clone.
- *References*: each page with its total, after a write to each of the three storages, which drops what was cached.
- *Total asked again*: one request at a time, at a new address each time; after a write of a task that does not match.
- *Figures of groups*: in the process of the server, as a request gets them. Asked first after a write to the storage, and again with
  nothing written since. PostgreSQL is vacuumed and analysed after it is filled.
- *Idle memory*: the resident memory of a server with the tasks example, 45 seconds after its start.
`
}
