import type { BlockDefinition, Listens } from './block.ts'
import type { InPins, OutPins } from './pin.ts'
import type { Settings } from './setting.ts'

/** A block without its code: what the palette, the property form and the documentation are drawn from. Plain JSON. */
export interface BlockDescription {
  readonly identifier: string
  readonly aliases: readonly string[]
  /** The folder it is in. */
  readonly group: string
  readonly kind: BlockDefinition['kind']
  /** What a trigger listens to; null for other blocks. */
  readonly on: Listens | null
  readonly title: string
  readonly summary: string
  readonly in: InPins
  readonly out: OutPins
  readonly settings: Settings
  /** Whether its settings add in-pins. */
  readonly more_in: boolean
  /** Whether its settings, or the builder, add out-pins. */
  readonly more_out: boolean
}

export function describeBlock(definition: BlockDefinition, group: string): BlockDescription {
  return {
    identifier: definition.identifier,
    aliases: definition.aliases ?? [],
    group,
    kind: definition.kind,
    on: definition.kind === 'trigger' ? definition.on : null,
    title: definition.title,
    summary: definition.summary,
    in: definition.in,
    out: definition.out,
    settings: definition.settings,
    more_in: definition.moreIn !== undefined,
    more_out: definition.moreOut !== undefined,
  }
}
