/** What a page does first with a document when its visitor sends a form, clicks a button or chooses a row action. */
import { actsAsUser } from '../../blocks/as-user.ts'
import type { Node, Wire } from './blueprint-graph.ts'
import { hasEvent } from './compile-page-flow.ts'
import { constantStorage, type Facts } from './constants/fold-constants.ts'
import type { PageWrite, PageWrites } from './frame.ts'

/** Parts of a page for which it is opened even where its form cannot be sent. */
const shows: ReadonlySet<string> = new Set([
  ...['state_advanced_datatable', 'state_card', 'state_chart', 'state_columns', 'state_detail'],
  ...['state_image', 'state_list', 'state_modal', 'state_tabs'],
])

const rules: Readonly<Record<string, PageWrite['rule']>> = {
  function_create_document_from_mutations: 'create',
  function_update_document_mutations: 'change',
  function_remove_document: 'remove',
  function_delete_document: 'remove',
}

/** `blocks`: what the page shows and runs. */
export function pageWrites(blocks: readonly Node[], facts: Facts): PageWrites {
  const events = blocks.filter(hasEvent)
  return {
    of: new Map(events.map((node) => [node.block.guid, firstWrite(node, facts)])),
    isForm:
      events.some(({ block }) => block.type === 'state_form') &&
      !blocks.some(({ block }) => shows.has(block.type)),
  }
}

function firstWrite(event: Node, facts: Facts): PageWrite | undefined {
  const [pin = ''] = [...event.out].find(([, out]) => out.event && out.type === 'flow') ?? []
  const [first, other] = facts.behind(event, pin)
  const rule = first && rules[first.block.type]
  const storage = first && constantStorage(first, facts)
  if (!rule || other || storage === undefined || !actsAsUser(first.settings)) return undefined
  return { storage, rule, guid: rule === 'create' ? undefined : guidOfWrite(first, event) }
}

function guidOfWrite(write: Node, event: Node): PageWrite['guid'] {
  const [guid] = write.wires.get('guid') ?? []
  if (guid || write.literals.has('guid')) return guid && guidAt(guid, event)
  const [document] = write.wires.get('document') ?? []
  if (document?.node.block.type !== 'function_get_document' || document.pin !== 'document') return undefined
  const [read] = document.node.wires.get('guid') ?? []
  return read && guidAt(read, event)
}

function guidAt({ node, pin }: Wire, event: Node): PageWrite['guid'] {
  if (node === event && (pin === 'clicked' || pin === 'guid')) return 'chosen'
  const root = node.expression?.parsed.root
  if (root?.kind === 'member' && root.of.kind === 'name' && !root.of.inBlocks && root.of.name === 'params')
    return { parameter: root.key }
  const field = node.block.type === 'httpconnection_get_params' ? node.literals.get('field') : undefined
  return typeof field === 'string' && pin === 'value' ? { parameter: field } : undefined
}
