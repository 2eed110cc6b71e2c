import { changeLeadsOut } from '../../../blocks/referring-query.ts'
import type { Steps } from '../../../shared/cooperative.ts'
import type { FieldsOf } from '../../../shared/field-rule.ts'
import type { Query, SortKey } from '../../../shared/query.ts'
import { behindProblem, type Reference, referencesIn } from '../../../storage/reference/references.ts'
import { throughReferences } from '../../../storage/reference/through-references.ts'
import { otherStorages } from '../../../storage/search/other-storages.ts'
import type { Graph, Node } from '../blueprint-graph.ts'
import { constantStorage, type Facts } from '../constants/fold-constants.ts'
import { sampler, unknownValue } from '../constants/sample-values.ts'
import { bounded, type DeployNote } from './deploy-note.ts'

/**
 * Blocks that order, group or add up by a field of another document, and changes of many whose condition asks for one: they fail in
 * each run. Refused by a deploy, and no problem of the
 * compiler: a field becomes a reference, or ends to be one, without a deploy, and active blocks are compiled at each start.
 */
export function* behindReferences(
  graph: Graph,
  facts: Facts,
  fieldsOf: FieldsOf,
): Steps<readonly DeployNote[]> {
  const sample = sampler(facts, unknownValue, unknownValue)
  const notes: DeployNote[] = []
  for (const node of graph.nodes) {
    yield
    const storage = constantStorage(node, facts)
    if (storage === undefined) continue
    const references = referencesIn(fieldsOf(storage)).of(storage)
    if (references.length === 0) continue
    const read = readIn(node, sample).map(
      ([pin, fields]) => [pin, behindProblem(fields, references)] as const,
    )
    for (const [pin, problem] of [...read, ['where', changeProblem(node, sample, references)] as const]) {
      if (!problem) continue
      const message = `With the present fields of documents, this fails: the pin ${pin} ${problem}.`
      notes.push({ block: node.block.guid, pin, message, level: 'warn', refused: true })
    }
  }
  return bounded(notes, 'fields behind references')
}

/** Of a block that changes, or waits for, what its pin `where` finds. */
function changeProblem(
  node: Node,
  sample: ReturnType<typeof sampler>,
  references: readonly Reference[],
): string | undefined {
  const { definition } = node
  const where = node.in.get('where')
  const isChange =
    definition.kind === 'flow' && (definition.effects?.writes !== undefined || definition.awaitsDocuments)
  if (!isChange || where?.type !== 'query') return undefined
  const query = sample(node, 'where', where)
  return isQuery(query) && leadsOut(query, references) ? changeLeadsOut : undefined
}

/** What a run refuses for another reason is left to it. */
function leadsOut(query: Query, references: readonly Reference[]): boolean {
  try {
    return otherStorages(throughReferences(query, references)).length > 0
  } catch {
    return false
  }
}

function isQuery(query: unknown): query is Query {
  return typeof query === 'object' && query !== null && 'kind' in query
}

/** Names of fields by pins, as far as they are known before a run. */
function readIn(
  node: Node,
  sample: ReturnType<typeof sampler>,
): readonly (readonly [string, readonly string[]])[] {
  const pins = [...node.in]
  const sorts = pins
    .filter(([, { type }]) => type === 'sort')
    .map(([id, pin]) => [id, sortedBy(sample(node, id, pin))] as const)
  if (node.definition.searches === undefined) return sorts
  const inputs = pins.filter(([, pin]) => pin.type !== 'flow' && !pin.perFrame)
  const input = Object.fromEntries(inputs.map(([id, pin]) => [id, sample(node, id, pin)]))
  const { read = [] } = node.definition.searches(input)
  return [...sorts, ['group', read] as const]
}

function sortedBy(value: unknown): readonly string[] {
  const keys: readonly unknown[] = Array.isArray(value) ? value : [value]
  return keys.filter(isSortKey).map(({ field }) => field)
}

function isSortKey(key: unknown): key is SortKey {
  return typeof key === 'object' && key !== null && 'field' in key && typeof key.field === 'string'
}
