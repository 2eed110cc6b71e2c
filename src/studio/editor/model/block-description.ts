import type { BlockDescription } from '../../../shared/api/blocks/blocks.ts'

/** By identifier, and by alias. */
export type Catalogue = ReadonlyMap<string, BlockDescription>

export function catalogueOf(descriptions: readonly BlockDescription[]): Catalogue {
  const named = descriptions.flatMap((one): [string, BlockDescription][] =>
    [one.identifier, ...one.aliases].map((name) => [name, one]),
  )
  return new Map(named)
}
