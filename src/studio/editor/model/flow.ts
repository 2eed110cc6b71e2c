import type { BlockContent, SavedInPin } from '../../../shared/blueprint.ts'

/** The blocks of a blueprint by guid, in the order in which they were made. Never changed in place. */
export type Flow = ReadonlyMap<string, BlockContent>

/** The blocks of a version as a flow. */
export function flowOfVersion(blocks: readonly (BlockContent & { readonly guid: string })[]): Flow {
  return new Map(blocks.map(({ guid, ...content }) => [guid, content]))
}

export interface PinPlace {
  readonly block: string
  readonly pin: string
}

/** From an out-pin to an in-pin. It is stored on the block that receives it. */
export interface Wire {
  readonly from: PinPlace
  readonly to: PinPlace
}

export const emptyFlow: Flow = new Map()

/** The same for the same wire, whatever its author. */
export function wireId({ from, to }: Wire): string {
  return `${from.block}|${from.pin}>${to.block}|${to.pin}`
}

export function sameWire(a: Wire, b: Wire): boolean {
  return wireId(a) === wireId(b)
}

/** All wires, of one receiving block or of all. Ends at blocks that are not there are among them. */
export function wiresOf(flow: Flow): Wire[] {
  return [...flow].flatMap(([guid, content]) => wiresInto(guid, content))
}

export function wiresInto(guid: string, content: BlockContent): Wire[] {
  return content.in_pins.flatMap((pin) =>
    (pin.from ?? []).map((from) => ({ from, to: { block: guid, pin: pin.id } })),
  )
}

export function inPinOf(content: BlockContent | undefined, pin: string): SavedInPin | undefined {
  return content?.in_pins.find(({ id }) => id === pin)
}

/** A wire, a value or an expression gives its value. */
export function isFilled(saved: SavedInPin | undefined): boolean {
  return saved !== undefined && ((saved.from?.length ?? 0) > 0 || 'value' in saved || 'expression' in saved)
}

/** A copy in which the block has this content; it is added at the end if it is new. */
export function withBlock(flow: Flow, guid: string, content: BlockContent): Flow {
  if (flow.get(guid) === content) return flow
  return new Map(flow).set(guid, content)
}

/** A copy in which the block's content is changed. The same flow if there is no such block, or nothing changes. */
export function changeBlock(flow: Flow, guid: string, change: Partial<BlockContent>): Flow {
  const content = flow.get(guid)
  return content ? withBlock(flow, guid, { ...content, ...change }) : flow
}
