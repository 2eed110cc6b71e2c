import type { JsonValue } from '../../../shared/json.ts'
import type { PinType } from '../../../shared/pin-type.ts'

/** A block without its code, as `GET /blocks` gives it. */
export interface BlockDescription {
  readonly identifier: string
  readonly aliases: readonly string[]
  readonly group: string
  readonly kind: 'value' | 'flow' | 'trigger'
  /** What a trigger listens to; null for other blocks. */
  readonly on: string | null
  readonly title: string
  readonly summary: string
  readonly in: Readonly<Record<string, InPin>>
  readonly out: Readonly<Record<string, OutPin>>
  readonly settings: Readonly<Record<string, Setting>>
  readonly adds: AddedPins
}

export interface InPin {
  readonly type: PinType
  readonly help: string
  readonly required?: true
  /** Takes several wires. */
  readonly several?: true
  readonly default?: JsonValue
  readonly min?: number
  readonly max?: number
  readonly integer?: true
  readonly choices?: readonly string[]
  /** Pulled once for each item. */
  readonly perFrame?: true
}

export interface OutPin {
  readonly type: PinType
  readonly help: string
  /** Has a value only for each item. */
  readonly frame?: true
  /** A flow pin that gives a value too. */
  readonly carries?: 'object'
}

export interface Setting {
  readonly help: string
  readonly kind: 'text' | 'storage' | 'number' | 'switch' | 'choice' | 'names'
  readonly required?: true
  readonly default?: JsonValue
  readonly min?: number
  readonly max?: number
  readonly options?: readonly string[]
}

/** Pins that appear as settings are filled in: by setting, what each name in its list becomes. */
export interface AddedPins {
  readonly in: Readonly<Record<string, InPin>>
  readonly out: Readonly<Record<string, OutPin>>
  /** Whether each custom out-pin of the block becomes one. */
  readonly custom_out: boolean
}

/** By identifier, and by alias. */
export type Catalogue = ReadonlyMap<string, BlockDescription>

export function catalogueOf(descriptions: readonly BlockDescription[]): Catalogue {
  const named = descriptions.flatMap((one): [string, BlockDescription][] =>
    [one.identifier, ...one.aliases].map((name) => [name, one]),
  )
  return new Map(named)
}
