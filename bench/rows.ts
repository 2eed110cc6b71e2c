/** What is measured. Names and goals are those of the project's table of goals. */
import type { Candidate } from './candidates.ts'
import { type Ask, ask, runCooperatively } from './requests.ts'
import { people, STATUSES, statusName, taskBody } from './sample-tasks.ts'

/** A candidate with its tasks in it. */
export interface SeededCandidate extends Candidate {
  /** Of some of the tasks, evenly spread. */
  readonly guids: readonly string[]
}

export interface Row {
  /** For `--only`. */
  readonly id: string
  readonly title: string
  /** Least ratio ours / hand-written. */
  readonly goal: number
  readonly asks: (candidate: SeededCandidate) => () => Ask
}

/** Requests that are always under way. */
export const CONNECTIONS = 32
export const LISTS_PER_WRITE = 50
/** Pages that begin at another document; each status has some 150. */
const OFFSETS = 125

/** Lists of 20, each of another status. */
export const listPaths = Array.from({ length: STATUSES }, (_, number) => `tasks?status=${statusName(number)}`)

const listAsks = listPaths.map((path) => ask({ path }))

/** Each other page of each list: 8,000 that differ, of which 1,600 would fit into Quoin's memory for results. */
const otherListAsks = Array.from({ length: STATUSES * OFFSETS }, (_, number) =>
  ask({ path: `tasks?status=${statusName(number)}&offset=${Math.floor(number / STATUSES)}` }),
)

/** 8,000 that differ too; each is a full page. */
const PAGES = 25
const wherePaths = Array.from({ length: STATUSES * people.length * PAGES }, (_, number) => {
  const round = Math.floor(number / STATUSES)
  const assignee = people[round % people.length]
  return `bench/where?status=${statusName(number)}&assignee=${assignee}&offset=${Math.floor(round / people.length)}`
})
const whereAsks = wherePaths.map((path) => ask({ path }))

/** Of what is listed, on which both sides must agree before anything is timed. */
export const comparedPaths = [...listPaths, ...wherePaths.filter((_, number) => number % 97 === 0)]

/**
 * With an unused parameter, so that no reply is cached. It goes on from round to round: an address that comes again in the next one
 * is one whose reply is kept.
 */
export function atNewAddresses(): (candidate: Pick<SeededCandidate, 'guids'>) => () => Ask {
  let number = 0
  return ({ guids }) =>
    () => {
      number += 1
      return ask({ path: `tasks/${guids[number % guids.length]}?n=${number}` })
    }
}

/** Counted in requests and not in time, so that the faster candidate does not get fewer writes for each list. */
function withWrites(list: () => Ask, guids: readonly string[], token: string): () => Ask {
  const body = '{"priority":4}'
  const write = runCooperatively(
    guids.map((guid) => ask({ method: 'PUT', path: `tasks/${guid}`, token, body, counted: false })),
  )
  let lists = 0
  return () => {
    lists = (lists + 1) % (LISTS_PER_WRITE + 1)
    return lists === 0 ? write() : list()
  }
}

/**
 * With writes. It goes on from round to round, so that a list comes again only when no memory holds it any more: rounds that began
 * with the first ones again found them remembered wherever a round does not get through all.
 */
export function anotherEachTime(
  asks: readonly Ask[],
): (candidate: Pick<SeededCandidate, 'guids' | 'token'>) => () => Ask {
  const list = runCooperatively(asks)
  return ({ guids, token }) => withWrites(list, guids, token)
}

/** In the order in which they run. Creating comes last, because the lists are to be of 10,000 tasks in every round. */
export const rows: readonly Row[] = [
  {
    id: 'constant',
    title: 'reply with a constant object',
    goal: 1.1,
    asks: () => runCooperatively([ask({ path: 'bench/constant' })]),
  },
  {
    id: 'read',
    title: 'read one document by guid',
    goal: 1.2,
    asks: ({ guids }) => runCooperatively(guids.map((guid) => ask({ path: `tasks/${guid}` }))),
  },
  {
    id: 'read-new',
    title: 'read one document by guid, at an address that is new each time',
    goal: 1,
    asks: atNewAddresses(),
  },
  {
    id: 'list-after-write',
    title: 'list 20 of 10,000, filtered and sorted, after a write',
    goal: 2.5,
    asks: ({ guids, token }) => withWrites(runCooperatively(listAsks), guids, token),
  },
  {
    id: 'list-new',
    title: 'list 20 of 10,000, filtered and sorted, another one each time',
    goal: 0.95,
    // With the writes of the row before.
    asks: anotherEachTime(otherListAsks),
  },
  {
    id: 'list-unchanged',
    title: 'the same list, nothing written since',
    goal: 4,
    asks: () => runCooperatively(listAsks),
  },
  {
    id: 'where',
    title: 'list 20 by a `where` expression of three comparisons, another one each time',
    goal: 0.9,
    asks: anotherEachTime(whereAsks),
  },
  {
    id: 'update',
    title: 'update with an increment, 32 at once, durable',
    goal: 0.85,
    asks: ({ guids, token }) =>
      runCooperatively(guids.map((guid) => ask({ method: 'PUT', path: `bench/visits/${guid}`, token }))),
  },
  {
    id: 'create',
    title: 'create with validation, 32 at once, durable',
    goal: 0.85,
    asks: ({ token }) =>
      runCooperatively(
        Array.from({ length: 256 }, (_, number) =>
          ask({ method: 'POST', path: 'tasks', token, body: taskBody(number), expected: 201 }),
        ),
      ),
  },
]
