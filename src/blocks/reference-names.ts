/**
 * Charts and cards of rows that were grouped by a reference show the names of the documents: a group is the guid of one. One search for
 * each storage that is referred to, on behalf of the visitor: what the visitor does not see stays a guid.
 */
import { parseFieldPath, valueAt } from '../shared/field-path.ts'
import type { FieldRule } from '../shared/field-rule.ts'
import { shownName } from '../shared/fields/field-names.ts'
import type { MaybePromise } from '../shared/maybe-promise.ts'
import { everyNode, type PageNode, withChildren } from '../shared/pages/page-content.ts'
import type { Session } from '../storage/database.ts'
import { guidOf } from '../storage/document-fields.ts'
import { findCooperatively } from '../storage/find-documents.ts'
import { referencesIn } from '../storage/reference/references.ts'

/** Documents of one storage whose names are read for a page; further groups stay guids. */
const MOST_NAMES = 500
/** Storages. */
const MOST_STORAGES = 16

export interface NameSource {
  readonly session: Session
  readonly rulesOf: (storage: string) => MaybePromise<readonly FieldRule[]>
}

const cardTexts = ['title', 'figure', 'note'] as const

export async function nodesWithNames(
  nodes: readonly PageNode[],
  source: NameSource,
): Promise<readonly PageNode[]> {
  const requested = new Map<string, Set<string>>()
  for (const node of everyNode(nodes))
    for (const [field, guids] of groupsOf(node)) {
      const known = requested.get(field) ?? new Set()
      requested.set(field, known)
      for (const guid of guids) known.add(guid)
    }
  if (requested.size === 0) return nodes
  const names = await namesOf(requested, source)
  const named = (some: readonly PageNode[]): readonly PageNode[] =>
    some.map((node) => withChildren(withNames(node, names), named))
  return named(nodes)
}

/** By the field, as `orders.customer`, the guids that may be shown of it. */
function groupsOf(node: PageNode): readonly (readonly [field: string, guids: readonly string[]])[] {
  if (node.kind === 'chart') return node.labelsOf === undefined ? [] : [[node.labelsOf, node.labels]]
  if (node.kind !== 'card' || !node.textsOf) return []
  return cardTexts.flatMap((text) => {
    const [field, shown] = [node.textsOf?.[text], node[text]]
    return field === undefined || shown === undefined ? [] : [[field, [shown]] as const]
  })
}

type Names = ReadonlyMap<string, ReadonlyMap<string, string>>

async function namesOf(
  requested: ReadonlyMap<string, ReadonlySet<string>>,
  { session, rulesOf }: NameSource,
): Promise<Names> {
  const names = new Map<string, ReadonlyMap<string, string>>()
  for (const [field, guids] of [...requested].slice(0, MOST_STORAGES)) {
    const dot = field.indexOf('.')
    const storage = field.slice(0, dot)
    const references = referencesIn(await rulesOf(storage)).of(storage)
    const to = references.find((one) => one.field === field.slice(dot + 1))?.storage
    const name = to === undefined ? undefined : shownName(await rulesOf(to), to)
    if (to === undefined || name === undefined) continue
    const values = [...guids].filter((guid) => guid !== '').slice(0, MOST_NAMES)
    const query = { kind: 'terms', field: '_meta.guid', values } as const
    const found = await findCooperatively(session, to, { query, limit: MOST_NAMES, sort: [] })
    const path = parseFieldPath(name)
    names.set(
      field,
      new Map(
        found.flatMap((document) => {
          const shown = valueAt(document, path)
          return typeof shown === 'string' && shown.trim() !== '' ? [[guidOf(document), shown] as const] : []
        }),
      ),
    )
  }
  return names
}

function withNames(node: PageNode, names: Names): PageNode {
  const nameOf = (field: string | undefined, guid: string) => names.get(field ?? '')?.get(guid) ?? guid
  if (node.kind === 'chart' && node.labelsOf !== undefined)
    return { ...node, labels: node.labels.map((guid) => nameOf(node.labelsOf, guid)) }
  if (node.kind !== 'card' || !node.textsOf) return node
  const texts = cardTexts.flatMap((text) => {
    const shown = node[text]
    return shown === undefined ? [] : [[text, nameOf(node.textsOf?.[text], shown)] as const]
  })
  return { ...node, ...Object.fromEntries(texts) }
}
