/**
 * The currency of an amount is set once, on its field. A column of a table has it by its field; a chart, a card and a detail view
 * name the field, as `contracts.amount`, where a code such as EUR may stand too.
 */
import type { FieldRule } from '../shared/field-rule.ts'
import type { MaybePromise } from '../shared/maybe-promise.ts'
import { everyNode, type PageNode, withChildren } from '../shared/pages/page-content.ts'
import type { TableColumn } from '../shared/pages/page-table.ts'
import type { ValueFormat } from '../shared/value-format.ts'

type RulesOf = (storage: string) => MaybePromise<readonly FieldRule[]>

/** Undefined for a field without a currency. Fields of other documents are found through references: `customer.credit`. */
export async function currencyOfField(
  storage: string,
  field: string,
  rulesOf: RulesOf,
): Promise<string | undefined> {
  const rules = await rulesOf(storage)
  const rule = rules.find(({ name }) => name === field)
  if (rule) return rule.limits.currency
  const bare = field.startsWith('_expand.') ? field.slice('_expand.'.length) : field
  const through = rules.find(({ name, reference }) => reference && bare.startsWith(`${name}.`))
  if (!through?.reference) return undefined
  return currencyOfField(through.reference.storage, bare.slice(through.name.length + 1), rulesOf)
}

/** Columns that show amounts get the currency of their field, unless they name another one. */
export async function columnsWithCurrencies(
  { storage, columns }: { readonly storage: string; readonly columns: readonly TableColumn[] },
  rulesOf: RulesOf,
): Promise<readonly TableColumn[]> {
  const made: TableColumn[] = []
  for (const column of columns) {
    const { field, format, cell, currency: named, ...rest } = column
    const isAmount = format === 'currency' || (format === 'auto' && cell === undefined)
    const currency = named ?? (isAmount ? `${storage}.${field}` : undefined)
    const shown = currency === undefined ? { format } : await amountOf({ format, currency }, rulesOf)
    // A column that only its field makes an amount keeps its format where the field has no currency.
    const isPlain = named === undefined && shown.currency === undefined
    made.push(isPlain ? column : { ...rest, field, ...(cell !== undefined && { cell }), format, ...shown })
  }
  return made
}

/** Charts, cards and details with a code in place of the field that has it. */
export async function nodesWithCurrencies(
  nodes: readonly PageNode[],
  rulesOf: RulesOf,
): Promise<readonly PageNode[]> {
  const changed = new Map<PageNode, PageNode>()
  for (const node of everyNode(nodes)) {
    const made = await nodeWithCurrency(node, rulesOf)
    if (made !== node) changed.set(node, made)
  }
  if (changed.size === 0) return nodes
  const inside = (some: readonly PageNode[]): readonly PageNode[] =>
    some.map((node) => withChildren(changed.get(node) ?? node, inside))
  return inside(nodes)
}

async function nodeWithCurrency(node: PageNode, rulesOf: RulesOf): Promise<PageNode> {
  if (node.kind === 'detail') {
    if (!node.items.some(namesField)) return node
    const items = []
    for (const item of node.items) {
      const { currency: _, ...rest } = item
      items.push({ ...rest, ...(await amountOf(item, rulesOf)) })
    }
    return { ...node, items }
  }
  if ((node.kind !== 'chart' && node.kind !== 'card') || !namesField(node)) return node
  const { currency: _, ...rest } = node
  return { ...rest, ...(await amountOf(node, rulesOf)) }
}

interface Amount {
  readonly format?: ValueFormat
  readonly currency?: string
}

function namesField({ currency }: Amount): boolean {
  return currency?.includes('.') === true
}

/** A code stays. A field without a currency makes a plain number of the amount. */
async function amountOf({ format, currency }: Amount, rulesOf: RulesOf): Promise<Amount> {
  const shown = { ...(format !== undefined && { format }) }
  if (currency === undefined) return shown
  const dot = currency.indexOf('.')
  if (dot === -1) return { ...shown, currency }
  const code = await currencyOfField(currency.slice(0, dot), currency.slice(dot + 1), rulesOf)
  if (code !== undefined) return { format: 'currency', currency: code }
  return format === 'currency' ? { format: 'number' } : shown
}
