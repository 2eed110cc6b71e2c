/**
 * What large bodies cost in memory. Each is sent to a server of its own, as `npm start` runs it: what one leaves in the
 * heap must not make the next one look cheap.
 */
import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Candidate, startQuoin } from './candidates.ts'
import { type Answered, type Body, fileForm, lines, MIB, post } from './large-bodies.ts'
import { storageGuid } from './management-api.ts'
import { forgetPeak, memoryOf } from './process-memory.ts'
import { taskBody } from './sample-tasks.ts'

export interface MemoryRow {
  readonly title: string
  /** Most extra MiB that it may take. */
  readonly goal: number | undefined
  readonly status: number
  /** MiB: the most that the process had while it worked, less what it had before; NaN if unknown. */
  readonly extra: number
  readonly seconds: number
  /** What was done, in `unit`; 0 for what was refused. */
  readonly amount: number
  readonly unit: string
}

interface Work {
  readonly title: string
  readonly goal: number | undefined
  readonly body: Body
  /** A small one of the same kind, sent first: what is loaded and compiled once is no cost of a body's size. */
  readonly first: Body
  readonly expected: number
  readonly amount: number
  readonly unit: string
  /** Below /api/v1. */
  readonly path: (server: Candidate) => Promise<string>
  /** Throws unless the server holds what it should hold now. */
  readonly check: (server: Candidate, answered: Answered) => void
}

const UPLOAD_LIMIT = 500
const LINES = 100_000
/** What an upload may take. */
const GOAL = 64

const upload = async () => '_system/assets/stream'

const works: readonly Work[] = [
  {
    title: `upload of ${UPLOAD_LIMIT} MB`,
    goal: GOAL,
    body: fileForm(UPLOAD_LIMIT * MIB, true),
    first: fileForm(MIB, true),
    expected: 200,
    amount: UPLOAD_LIMIT,
    unit: 'MB',
    path: upload,
    check: (server) => mustHold(server, (UPLOAD_LIMIT + 1) * MIB),
  },
  {
    // Without a length, so that the server cannot refuse it before it has read it.
    title: `upload of ${UPLOAD_LIMIT + 1} MB`,
    goal: GOAL,
    body: fileForm((UPLOAD_LIMIT + 1) * MIB, false),
    first: fileForm(MIB, true),
    expected: 413,
    amount: 0,
    unit: 'MB',
    path: upload,
    check: (server) => mustHold(server, MIB),
  },
  {
    title: `import of ${LINES.toLocaleString('en-US')} lines`,
    goal: undefined,
    body: lines(LINES, taskBody),
    first: lines(1, taskBody),
    expected: 200,
    amount: LINES,
    unit: 'lines',
    path: async ({ base, token }) =>
      `_system/storages/${await storageGuid({ base, token }, 'tasks')}/documents/import`,
    check(_server, { text }) {
      if (text !== JSON.stringify({ imported: LINES })) throw new Error(`The import answered ${text}.`)
    },
  },
]

/** Throws if one is not answered as it should be. */
export async function measureMemory(core: number | undefined): Promise<readonly MemoryRow[]> {
  const rows: MemoryRow[] = []
  for (const work of works) {
    console.log(`${work.title} …`)
    rows.push(await measure(work, core))
  }
  return rows
}

async function measure(work: Work, core: number | undefined): Promise<MemoryRow> {
  const { title, goal, amount, unit } = work
  const server = await startQuoin({ core })
  try {
    const url = `${server.base}/api/v1/${await work.path(server)}`
    const first = await post(url, server.token, work.first)
    if (first.status !== 200)
      throw new Error(`${title}, the small one before: ${first.status}: ${first.text}`)
    const before = memoryOf(server.pid)
    if (before) forgetPeak(server.pid)
    const answered = await post(url, server.token, work.body)
    const after = memoryOf(server.pid)
    if (answered.status !== work.expected)
      throw new Error(`${title}: ${answered.status} and not ${work.expected}: ${answered.text}`)
    work.check(server, answered)
    const extra = before && after ? (after.peak - before.resident) / MIB : Number.NaN
    return { title, goal, status: answered.status, extra, seconds: answered.seconds, amount, unit }
  } finally {
    await server.close()
  }
}

function mustHold({ databaseFile }: Candidate, expected: number): void {
  const folder = join(dirname(databaseFile), 'assets')
  const bytes = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(folder, name)))
    .filter((found) => found.isFile())
    .reduce((sum, { size }) => sum + size, 0)
  if (bytes !== expected) throw new Error(`The folder of assets holds ${bytes} bytes and not ${expected}.`)
}
