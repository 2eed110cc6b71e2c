import type { BlockDefinition, Listens } from './block.ts'
import type { InPin, InPins, OutPin, OutPins } from './pin.ts'
import { readSettings } from './read-settings.ts'
import type { Settings } from './setting.ts'

/** Pins that appear as a block's settings are filled in, so that an editor can draw them without asking. */
export interface AddedPins {
  /** By setting: each name in its list becomes an in-pin of this kind, unless the block has a pin of that name. */
  readonly in: InPins
  readonly out: OutPins
  /** Whether each of the block's `custom_out_pins` becomes an out-pin. */
  readonly custom_out: boolean
}

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
  readonly adds: AddedPins
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
    adds: addedPins(definition),
  }
}

/** A name that no block has a pin of. */
const PROBE = 'probe_of_the_description'

/** Found out by asking the definition what one name would add: a list of its own could be forgotten. */
function addedPins(definition: BlockDefinition): AddedPins {
  const added = { in: {} as Record<string, InPin>, out: {} as Record<string, OutPin> }
  for (const [setting, { kind }] of Object.entries(definition.settings)) {
    if (kind !== 'names') continue
    const { values } = readSettings(definition.settings, { [setting]: [PROBE] })
    const into = definition.moreIn?.(values)[PROBE]
    const out = definition.moreOut?.(values, [])[PROBE]
    if (into) added.in[setting] = { ...into, help: into.help.replaceAll(PROBE, '…') }
    if (out) added.out[setting] = { ...out, help: out.help.replaceAll(PROBE, '…') }
  }
  const { values } = readSettings(definition.settings, {})
  const custom = definition.moreOut?.(values, [{ id: PROBE, type: 'number' }])
  return { ...added, custom_out: custom?.[PROBE] !== undefined }
}
