/**
 * A page as the rules of storages show it to its visitor: tables without columns of hidden fields, forms without their inputs, and
 * with inputs that the visitor cannot change where the field may not be set. What a flow has read itself it shows: it runs as the application unless its blocks say otherwise.
 */
import type { FastifyRequest } from 'fastify'
import { type Subject, subjectOf } from '../../records/permissions/judge.ts'
import type { Permissions } from '../../records/permissions/permissions.ts'
import { overlap } from '../../shared/field-path.ts'
import {
  everyNode,
  type PageForm,
  type PageNode,
  type ShownPage,
  withChildren,
} from '../../shared/pages/page-content.ts'
import type { PageInput } from '../../shared/pages/page-input.ts'
import type { DataTable } from '../../shared/pages/page-table.ts'
import { type Reference, referencesIn } from '../../storage/reference/references.ts'
import type { RulesOf } from './field-rules-of.ts'

export interface PageRules {
  readonly permissions: Permissions
  readonly rulesOf: RulesOf
}

export function visitorOf({ identity }: FastifyRequest): Subject {
  return subjectOf(identity?.user, identity?.scopes)
}

/** What the rules of one storage say of its fields. */
interface FieldsFor {
  readonly hidden: readonly string[]
  readonly unsettable: readonly string[]
  readonly references: readonly Reference[]
}

export async function permittedPage<P extends Pick<ShownPage, 'content'>>(
  page: P,
  { permissions, rulesOf }: PageRules,
  visitor: Subject,
): Promise<P> {
  if (!visitor.bound || permissions.none()) return page
  const known = new Map<string, FieldsFor>()
  const queue = [...storagesOf(page.content)]
  for (let storage = queue.pop(); storage !== undefined; storage = queue.pop()) {
    if (known.has(storage)) continue
    const references = referencesIn(await rulesOf(storage)).of(storage)
    known.set(storage, {
      hidden: await permissions.hidden(storage, visitor),
      unsettable: await permissions.unsettable(storage, visitor),
      references,
    })
    queue.push(...references.map((one) => one.storage))
  }
  return { ...page, content: permittedNodes(page.content, undefined, known) }
}

function* storagesOf(content: readonly PageNode[]): Generator<string, void> {
  for (const node of everyNode(content))
    if (
      (node.kind === 'form' || node.kind === 'input' || node.kind === 'datatable') &&
      node.storage !== undefined
    )
      yield node.storage
}

type Known = ReadonlyMap<string, FieldsFor>

function permittedNodes(
  nodes: readonly PageNode[],
  form: PageForm | undefined,
  known: Known,
): readonly PageNode[] {
  return nodes.flatMap((node): PageNode | readonly PageNode[] => {
    if (node.kind === 'datatable') return permittedTable(node, known)
    if (node.kind === 'input') return permittedInput(node, known.get(node.storage ?? form?.storage ?? ''))
    return withChildren(node, (inner) => permittedNodes(inner, node.kind === 'form' ? node : form, known))
  })
}

function permittedTable(table: DataTable, known: Known): DataTable {
  return { ...table, columns: table.columns.filter(({ field }) => isVisible(table.storage, field, known)) }
}

/** Also of a field of a document that the field refers to. */
function isVisible(storage: string, field: string, known: Known): boolean {
  const fields = known.get(storage)
  if (!fields) return true
  if (fields.hidden.some((name) => overlap(name, field))) return false
  const reference = fields.references.find((one) => field.startsWith(`${one.field}.`))
  return !reference || isVisible(reference.storage, field.slice(reference.field.length + 1), known)
}

function permittedInput(input: PageInput, fields: FieldsFor | undefined): readonly PageNode[] {
  if (!fields) return [input]
  const names = (list: readonly string[]) => list.some((name) => overlap(name, input.name))
  // Also one that the visitor may set: sent back empty, it would take the value away.
  if (names(fields.hidden)) return []
  return [names(fields.unsettable) ? { ...input, disabled: true } : input]
}
