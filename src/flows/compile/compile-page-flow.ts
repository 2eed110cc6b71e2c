import { actsAsUser } from '../../blocks/as-user.ts'
import type { Steps } from '../../shared/cooperative.ts'
import { andThen } from '../../shared/maybe-promise.ts'
import type { Node, Wire } from './blueprint-graph.ts'
import { flowCompiler } from './compile-flow.ts'
import { constantStorage, type Facts } from './constants/fold-constants.ts'
import type { CompiledFlow, Frame, PageWrite, PageWrites, Step } from './frame.ts'
import type { BlockCounts } from './graph-wiring.ts'

interface EventFlow {
  readonly accept: (frame: Frame, input: Readonly<Record<string, unknown>>) => void
  readonly first: Step | undefined
}

/**
 * The flow of a page together with the flows of the event pins of the blocks that it shows: an action of a visitor runs in
 * the frame of the page. See `PageVisit`.
 */
export function* compilePageFlow(trigger: Node, facts: Facts, counts: BlockCounts): Steps<CompiledFlow> {
  const { values, behind, resumePoints } = flowCompiler(facts, counts)
  const page = yield* behind(trigger, 'flow')
  const events = new Map<string, EventFlow>()
  for (const node of eventBlocks(trigger, facts)) {
    const [pin = ''] = [...node.out].find(([, out]) => out.event && out.type === 'flow') ?? []
    const store = values.storeEventOf(node)
    const accept = facts.probe?.event(node, store) ?? store
    events.set(node.block.guid, { accept, first: yield* behind(node, pin) })
  }

  const first: Step = (frame) =>
    andThen(frame.run.steps.drive(page, frame), () => {
      const visit = frame.run.request?.visit
      return andThen(visit?.proceed(), (event) => {
        const flow = event && events.get(event.block)
        if (!event || !flow) return undefined
        frame.run.eventBegins()
        flow.accept(frame, event.input)
        return andThen(frame.run.steps.drive(flow.first, frame), () => {
          const reply = visit?.finish()
          if (reply) frame.run.eventEnds(reply, event.block)
          return undefined
        })
      })
    })

  const store = values.storeOf(trigger)
  const accept = facts.probe?.event(trigger, store) ?? store
  const slots = { slots: values.slots(), slotPins: values.slotPins() }
  return { trigger: trigger.block.guid, ...slots, accept, first, ...resumePoints() }
}

/** The blocks with event pins that the page, or what follows from it, may show. */
export function eventBlocks(trigger: Node, facts: Facts): readonly Node[] {
  return pageBlocks(trigger, facts).filter(hasEvent)
}

function hasEvent({ out }: Node): boolean {
  return [...out.values()].some(({ event }) => event)
}

/** The blocks that the page runs and shows, and those of what follows from it. */
export function pageBlocks(trigger: Node, facts: Facts): readonly Node[] {
  const seen = new Set<Node>([trigger])
  const queue = [trigger]
  const visit = (node: Node) => {
    if (seen.has(node)) return
    seen.add(node)
    queue.push(node)
  }
  for (let node = queue.pop(); node; node = queue.pop()) {
    for (const [pin, out] of node.out) if (out.type === 'flow') facts.behind(node, pin).forEach(visit)
    for (const [pin, wires] of node.wires) {
      if (node.in.get(pin)?.type === 'flow') continue
      for (const wire of wires) if (wire.node.definition.kind === 'value') visit(wire.node)
    }
  }
  return [...seen]
}

// What a page does first with a document when its visitor sends a form, clicks a button or chooses a row action.

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
