import type { ValueType } from '../../../expressions/language/value-types.ts'
import type { Steps } from '../../../shared/in-turns.ts'
import type { Graph, Node } from '../blueprint-graph.ts'
import type { Facts } from '../constants/fold-constants.ts'
import type { CompiledEndpoint } from '../frame.ts'
import type { ReadTrigger } from '../read-triggers.ts'
import { chartColumns } from './chart-columns.ts'
import { bounded, type DeployNote } from './deploy-note.ts'
import { emptyListNotes } from './empty-list-notes.ts'
import type { FunctionCall } from './function-calls.ts'
import { idleEvents, idleTriggers } from './idle-events.ts'
import { listsAsText } from './lists-as-text.ts'
import { lostRequests } from './lost-requests.ts'
import { missedTimes } from './missed-times.ts'
import { nestedExpressions } from './nested-expressions.ts'
import { cachingNotes, openWrites } from './public-endpoints.ts'
import { staleReads } from './stale-reads.ts'
import { unusedBlocks } from './unused-blocks.ts'
import { usedBlocks } from './used-blocks.ts'
import { waitingRequests } from './waiting-requests.ts'

export interface Compiled {
  readonly endpoints: readonly CompiledEndpoint[]
  readonly triggers: readonly ReadTrigger[]
  readonly calls: readonly FunctionCall[]
  /** What is known of the values of expressions. */
  readonly types: ReadonlyMap<Node, ValueType>
}

/** What is probably a mistake in a blueprint that can run. */
export function* deployNotes(graph: Graph, facts: Facts, compiled: Compiled): Steps<readonly DeployNote[]> {
  const { endpoints, triggers, calls, types } = compiled
  const used = yield* usedBlocks(graph, facts)
  const writes = yield* openWrites(endpoints, triggers, graph.nodes, calls)
  const unused = yield* unusedBlocks(graph, facts, used)
  const events = yield* idleEvents(graph, facts, used)
  const stale = yield* staleReads(graph.nodes, facts)
  const waiting = yield* waitingRequests(graph.nodes, facts)
  const lists = yield* listsAsText({ triggers, calls, types, used })
  const nested = yield* nestedExpressions(graph.nodes)
  const charts = yield* chartColumns(graph.nodes, types)
  return [
    ...bounded(writes, 'endpoints that require no access and write'),
    ...bounded(cachingNotes(endpoints), 'cached replies that may depend on the caller'),
    ...bounded(idleTriggers(graph, facts), 'triggers without a block behind them'),
    ...bounded(unused, 'blocks that no trigger leads to'),
    ...bounded(events, 'forms and buttons without a block behind them'),
    ...bounded(stale, 'reads before a call that a later write relies on'),
    ...bounded(waiting, 'waits that no one could decide, or whose later blocks need the request'),
    ...bounded(missedTimes(graph.nodes, facts), 'schedules that may lose missed times'),
    ...bounded(lostRequests(graph.nodes, facts), 'endpoints whose requests cannot be sent again'),
    ...bounded(lists, 'lists where text is wanted'),
    ...bounded(charts, 'charts of columns that do not exist'),
    ...bounded(nested, 'expressions inside lists and objects'),
    ...bounded(emptyListNotes(graph.nodes.map(({ block }) => block)), 'lists of terms that may be empty'),
  ]
}
