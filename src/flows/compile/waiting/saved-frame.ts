import type { Wire } from '../blueprint-graph.ts'
import type { RunName } from '../expressions/run-names.ts'
import { type Frame, UNSET } from '../frame.ts'
import { restoredValue, restoredValues, savedValue, savedValues } from './saved-value.ts'
import type { FormerRequest, SavedFrame, SavedValue } from './stored-frame.ts'
import type { ValuesRead } from './values-read.ts'

type SlotOf = (wire: Wire) => number | undefined

/** What a value block gave and JSON cannot hold is left out: the block is evaluated again. Throws for that of another block. */
export function saveFrame(frame: Frame, { wires, names }: ValuesRead, slotOf: SlotOf): SavedFrame {
  const { parameters, sent, run } = frame
  const values: Record<string, Record<string, SavedValue>> = {}
  for (const wire of wires) {
    // It holds tokens, and there is no client to reply to any more.
    if (wire.node.out.get(wire.pin)?.type === 'connection') continue
    const slot = slotOf(wire)
    const value = slot === undefined ? undefined : frame.slots[slot]
    if (value === undefined || value === UNSET) continue
    const saved = savedValue(value)
    if (!saved && wire.node.definition.kind !== 'value') throw unsaved(wire)
    if (!saved) continue
    const { guid } = wire.node.block
    values[guid] = { ...values[guid], [wire.pin]: saved }
  }
  const request = readsRequest(names) ? (run.request ?? run.former) : undefined
  return {
    values,
    ...(names.has('params') && parameters && { parameters: savedValues(parameters) }),
    ...(readsRequest(names) &&
      sent && { sent: { fields: [...sent.fields], given: savedValues(sent.input) } }),
    ...(request && { request: formerRequest(request, names) }),
    ...(run.variables.size > 0 && { variables: run.variables.all() }),
  }
}

export function restoreFrame(
  frame: Frame,
  { values }: SavedFrame,
  { wires }: ValuesRead,
  slotOf: SlotOf,
): void {
  for (const wire of wires) {
    const slot = slotOf(wire)
    const saved = values[wire.node.block.guid]?.[wire.pin]
    if (slot !== undefined && saved) frame.slots[slot] = restoredValue(saved)
  }
}

/** What a new frame is made with. */
export function restoredInput({ parameters, sent }: SavedFrame): Pick<Frame, 'parameters' | 'sent'> {
  return {
    parameters: parameters && restoredValues(parameters),
    sent: sent && { fields: new Set(sent.fields), input: restoredValues(sent.given) },
  }
}

function readsRequest(names: ReadonlySet<RunName>): boolean {
  return names.has('params') || names.has('query') || names.has('body')
}

function formerRequest({ path, query, body }: FormerRequest, names: ReadonlySet<RunName>): FormerRequest {
  return { path, query, body: names.has('body') ? body : undefined }
}

function unsaved({ node: { block, definition }, pin }: Wire): Error {
  const title = block.title || definition.title
  return new Error(
    `The value ${pin} of "${title}" cannot be stored while the run waits. Read what is needed of it before the wait.`,
  )
}

/** What is saved, as `reads` of a point names it. */
export function savedKeys({ values, parameters, request }: SavedFrame): ReadonlySet<string> {
  const pins = Object.entries(values).flatMap(([block, input]) =>
    Object.keys(input).map((pin) => `${block}.${pin}`),
  )
  const { body, ...address } = request ?? {}
  return new Set([
    ...pins,
    ...(parameters || request ? ['params'] : []),
    ...(Object.keys(address).length > 0 ? ['query'] : []),
    ...(body === undefined ? [] : ['body']),
  ])
}
