import { type Flow, inPinOf } from '../model/flow.ts'

/** Name of the custom function that a block calls; undefined for others. */
export function calledFunction(flow: Flow, guid: string): string | undefined {
  const value = inPinOf(flow.get(guid), 'function')?.value
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Name of the custom function that a block is. */
export function ownFunction(flow: Flow, guid: string): string | undefined {
  const content = flow.get(guid)
  const name = content?.type === 'trigger_custom_function' ? content.fields.name : undefined
  return typeof name === 'string' && name !== '' ? name : undefined
}

/** The block that is the function, in this blueprint. */
export function functionBlock(flow: Flow, name: string): string | undefined {
  return [...flow.keys()].find((guid) => ownFunction(flow, guid) === name)
}

/** Blocks that call it, in this blueprint. */
export function callsOf(flow: Flow, name: string): string[] {
  return [...flow.keys()].filter((guid) => calledFunction(flow, guid) === name)
}
