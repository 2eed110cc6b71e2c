import { readFileSync } from 'node:fs'
import { partsOf } from './block-parts.ts'
import { chosenMutants } from './chosen-mutants.ts'
import { generatedMutants } from './generated-mutants.ts'
import { type Mutant, nameOf } from './mutant.ts'

/** The blocks of the contract, in its order. */
export function contractBlocks(): readonly string[] {
  const rows: readonly { readonly table: string; readonly id: string }[] = read('../contract.json')
  return rows.filter(({ table }) => table === 'blocks').map(({ id }) => id)
}

/** In a fixed order, block by block. `only`: of these blocks. `deliberate`: the breaks that the suite tries. */
export function allMutants({
  only = [],
  deliberate = false,
}: {
  readonly only?: readonly string[]
  readonly deliberate?: boolean
}): Mutant[] {
  const promised: Readonly<Record<string, Promised>> = read('../promised-blocks.json')
  const chosen = chosenMutants(deliberate)
  return contractBlocks()
    .filter((block) => only.length === 0 || only.includes(block))
    .flatMap((block) => {
      const own = chosen.filter((one) => one.block === block)
      if (deliberate) return own
      const pins = promised[block]
      if (pins === undefined) throw new Error(`promised-blocks.json does not say what ${block} promises.`)
      const ids = new Set([...pins.in, ...pins.out])
      return numbered([...own, ...partsOf(block).flatMap((part) => generatedMutants(block, part, ids))])
    })
}

/** Of changes that read the same the later ones have a number. Lines are no part of names: they move. */
function numbered(mutants: readonly Mutant[]): Mutant[] {
  const counts = new Map<string, number>()
  return mutants.map((mutant) => {
    const count = (counts.get(nameOf(mutant)) ?? 0) + 1
    counts.set(nameOf(mutant), count)
    return count === 1 ? mutant : { ...mutant, change: `${mutant.change} (no. ${count})` }
  })
}

interface Promised {
  readonly in: readonly string[]
  readonly out: readonly string[]
}

function read<Content>(name: string): Content {
  return JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8'))
}
