import type { Steps } from '../../shared/cooperative.ts'
import { andThen } from '../../shared/maybe-promise.ts'
import type { Node } from './blueprint-graph.ts'
import { flowCompiler } from './compile-flow.ts'
import type { Facts } from './constants/fold-constants.ts'
import type { CompiledFlow, Frame, Step } from './frame.ts'
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

export function hasEvent({ out }: Node): boolean {
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
