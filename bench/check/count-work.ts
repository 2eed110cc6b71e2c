/**
 * What Quoin does for each kind of request, counted and not timed: the same on a machine that is busy as on a quiet one.
 * Counted is one request at a time, several times over; of these the median, because now and then a batch of log records
 * is stored meanwhile.
 */

import { setTimeout as wait } from 'node:timers/promises'
import { isJsonObject } from '../../src/shared/json.ts'
import { search } from '../../src/shared/query.ts'
import { systemStorages } from '../../src/storage/system-storages.ts'
import { type Ask, ask } from '../requests.ts'
import { statusName, taskBody } from '../sample-tasks.ts'
import { median } from '../statistics.ts'
import { type CheckedQuoin, openCheckedQuoin } from './checked-quoin.ts'
import { type CallCounter, type Calls, countCalls } from './count-calls.ts'
import { openPipeline, type Pipeline } from './pipeline.ts'
import type { Work } from './work-limits.ts'

export interface WorkRow {
  /** As in the limits. */
  readonly id: string
  readonly title: string
  readonly counted: Partial<Work>
}

interface Room extends CheckedQuoin {
  readonly calls: CallCounter
  readonly pipeline: Pipeline
  /** Some tasks. */
  readonly guids: readonly string[]
}

const TIMES = 15
const TASKS = 64
const GROUP = 32
const REQUESTS = 100

export async function countWork(): Promise<readonly WorkRow[]> {
  const opened = await openCheckedQuoin()
  const pipeline = await openPipeline(opened.port)
  const calls = countCalls()
  try {
    return await countAll({ ...opened, calls, pipeline, guids: await fill(opened, pipeline) })
  } finally {
    calls.stop()
    pipeline.close()
    await opened.close()
  }
}

async function fill({ quoin, token }: CheckedQuoin, pipeline: Pipeline): Promise<string[]> {
  for (let number = 0; number < TASKS; number++) await pipeline.send(create(token, number))
  const { documents } = await quoin.database.session().find('tasks', search({ limit: TASKS }))
  const found = Array.isArray(documents.value) ? documents.value.filter(isJsonObject) : []
  const guids = found.flatMap(({ _meta: meta }) => (isJsonObject(meta) ? [String(meta.guid)] : []))
  if (guids.length !== TASKS) throw new Error(`There are ${guids.length} tasks and not ${TASKS}.`)
  return guids
}

async function countAll(fixture: Room): Promise<WorkRow[]> {
  const { token, guids } = fixture
  const guid = (time: number) => guids[time % guids.length] ?? ''
  const put = (path: string, body?: string) =>
    ask({ method: 'PUT', path, token, ...(body !== undefined && { body }) })
  const update = (time: number) => put(`tasks/${guid(time)}`, `{"priority":${time}}`)
  const list = ask({ path: `tasks?status=${statusName(1)}` })
  return [
    await each(fixture, 'constant', 'reply with a constant object', () => ask({ path: 'bench/constant' })),
    await each(fixture, 'read', 'read one', (time) => ask({ path: `tasks/${guid(time)}` })),
    await each(
      fixture,
      'list-after-write',
      'list 20, after a write',
      () => list,
      (time) => fixture.pipeline.send(update(time)),
    ),
    await each(fixture, 'list-unchanged', 'the same list, nothing written', () => list),
    await each(fixture, 'create', 'create', (time) => create(token, time)),
    await each(fixture, 'update', 'update', update),
    await each(fixture, 'increment', 'increment', (time) => put(`bench/visits/${guid(time)}`)),
    await group(fixture),
    await userLog(fixture),
  ]
}

function create(token: string, number: number): Ask {
  return ask({ method: 'POST', path: 'tasks', token, body: taskBody(number), expected: 201 })
}

/** One request at a time. What `before` does is not counted. */
async function each(
  { calls, pipeline }: Room,
  id: string,
  title: string,
  request: (time: number) => Ask,
  before?: (time: number) => Promise<void>,
): Promise<WorkRow> {
  const seen: Calls[] = []
  // Once more than is counted: the first one prepares statements and fills caches.
  for (let time = 0; time <= TIMES; time++) {
    await before?.(time)
    calls.reset()
    await pipeline.send(request(time))
    if (time > 0) seen.push(calls.calls())
  }
  const counted = {
    statements: median(seen.map(({ statements }) => statements.length)),
    parses: median(seen.map(({ parsed }) => parsed.length)),
    blocks: median(seen.map(({ blocks }) => blocks)),
    commits: median(seen.map(commitsIn)),
  }
  return { id, title, counted }
}

/** What arrives in one packet is one group: one COMMIT, so one sync of the disk, for all of it. */
async function group({ calls, pipeline, token }: Room): Promise<WorkRow> {
  const commits: number[] = []
  for (let time = 0; time < TIMES; time++) {
    calls.reset()
    await pipeline.send(...Array.from({ length: GROUP }, (_, number) => create(token, number)))
    commits.push(commitsIn(calls.calls()))
  }
  return { id: 'group', title: `${GROUP} creates at once`, counted: { commits: median(commits) } }
}

function commitsIn({ statements }: Calls): number {
  return statements.filter((sql) => sql === 'COMMIT').length
}

/**
 * The least of some rounds: a batch of records that is stored in the middle of a round makes it two. Each round asks for
 * another path, so that its records are told from those of the others.
 */
async function userLog(fixture: Room): Promise<WorkRow> {
  const rounds: number[] = []
  for (const guid of fixture.guids.slice(0, 3)) {
    const request = ask({ path: `tasks/${guid}`, token: fixture.token })
    await fixture.pipeline.send(...Array.from({ length: REQUESTS }, () => request))
    rounds.push(await recordsOf(fixture, `/api/v1/tasks/${guid}`))
  }
  return {
    id: 'user-log',
    title: `${REQUESTS} requests of a user`,
    counted: { records: Math.min(...rounds) },
  }
}

/** Records of GETs of this path, as soon as they tell of all requests. */
async function recordsOf({ quoin }: Room, path: string): Promise<number> {
  const requested = search({
    query: {
      kind: 'and',
      queries: [
        { kind: 'term', field: 'path', value: path },
        { kind: 'term', field: 'method', value: 'GET' },
      ],
    },
    limit: 2 * REQUESTS,
  })
  const late = performance.now() + 10_000
  while (performance.now() < late) {
    const { documents } = await quoin.database.session().find(systemStorages.userLogs, requested)
    const records = Array.isArray(documents.value) ? documents.value.filter(isJsonObject) : []
    const reported = records.reduce((sum, { times }) => sum + Number(times), 0)
    if (reported >= REQUESTS) return records.length
    await wait(20)
  }
  throw new Error(`The user log does not tell of ${REQUESTS} requests of ${path}.`)
}
