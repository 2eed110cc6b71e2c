import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { TorturePart } from './torture-part.ts'

/** Every file of `parts/`, in the order of their names; `only` chooses some. */
export async function findParts(only?: readonly string[]): Promise<TorturePart[]> {
  const folder = join(import.meta.dirname, 'parts')
  const names = globSync('*.ts', { cwd: folder })
    .map((file) => basename(file, '.ts'))
    .sort()
  const unknown = only?.find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw new RangeError(`There is no part "${unknown}". There are: ${names.join(', ')}.`)
  const chosen = only ? names.filter((name) => only.includes(name)) : names
  return Promise.all(
    chosen.map(async (name) => {
      const { default: part } = await import(pathToFileURL(join(folder, `${name}.ts`)).href)
      if (!isPart(part) || part.name !== name)
        throw new TypeError(`parts/${name}.ts must export a part named "${name}" by default.`)
      return part
    }),
  )
}

function isPart(value: unknown): value is TorturePart {
  if (typeof value !== 'object' || value === null) return false
  return (
    'name' in value &&
    typeof value.name === 'string' &&
    'summary' in value &&
    typeof value.summary === 'string' &&
    'run' in value &&
    typeof value.run === 'function' &&
    (!('control' in value) || typeof value.control === 'function')
  )
}
