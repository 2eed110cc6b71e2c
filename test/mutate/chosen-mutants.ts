/**
 * Changes chosen by hand: of code below the blocks that does what they promise, and of blocks where no general change
 * says it. `deliberate` are the breaks that once went unseen by the scenario of their block: the suite tries them.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Mutant } from './mutant.ts'
import { lineOf, type SwitchedChange, switchedText } from './switched-text.ts'

const root = join(import.meta.dirname, '../..')

export interface ChosenMutant extends SwitchedChange {
  readonly block: string
  readonly file: string
  readonly deliberate?: true
}

const list: readonly Omit<ChosenMutant, 'name'>[] = JSON.parse(
  readFileSync(join(import.meta.dirname, 'chosen-mutants.json'), 'utf8'),
)
const chosen: readonly ChosenMutant[] = list.map((one, place) => ({ ...one, name: `${one.block} ${place}` }))

export function chosenMutants(deliberateOnly = false): Mutant[] {
  return chosen
    .filter(({ deliberate }) => deliberate || !deliberateOnly)
    .map(({ block, file, find, replace, name }) => {
      const line = lineOf(readFileSync(join(root, file), 'utf8'), find)
      return {
        block,
        file,
        line,
        change: `${find} → ${replace}`,
        promised: true,
        by: { kind: 'switch', name },
      }
    })
}

/** By URL: the texts of all files with chosen changes, all of them turned off. */
export function switchedTexts(): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  for (const [file, changes] of Map.groupBy(chosen, ({ file }) => file)) {
    const path = join(root, file)
    texts.set(pathToFileURL(path).href, switchedText(file, readFileSync(path, 'utf8'), changes))
  }
  return texts
}
