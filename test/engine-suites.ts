/**
 * Which suites an engine can matter to: those of which a module, however far away, asks vitest for what the run provides
 * (`inject('engine')`). The others are the same on each engine, so the project `postgres` leaves them out: half of the files
 * above storage, such as most tests of blocks, which run on values alone.
 */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

const root = join(import.meta.dirname, '..')
const IMPORTED = /(?:\bfrom|\bimport\(|\bimport)\s*'(\.[^']+)'/g

interface Module {
  readonly asks: boolean
  readonly imports: readonly string[]
}

/** Paths below the root, sorted. */
export function engineSuites(patterns: readonly string[]): string[] {
  const modules = new Map<string, Module>()
  const asks = (file: string) => reaches(file, (path) => read(modules, path))
  return globSync(patterns, { cwd: root })
    .filter((file) => asks(resolve(root, file)))
    .map((file) => relative(root, resolve(root, file)).replaceAll('\\', '/'))
    .sort()
}

function reaches(file: string, moduleOf: (path: string) => Module): boolean {
  const seen = new Set<string>()
  const open = [file]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (seen.has(path)) continue
    seen.add(path)
    const { asks, imports } = moduleOf(path)
    if (asks) return true
    open.push(...imports)
  }
  return false
}

function read(modules: Map<string, Module>, path: string): Module {
  const known = modules.get(path)
  if (known) return known
  const text = readFileSync(path, 'utf8')
  const imports = [...text.matchAll(IMPORTED)]
    .map(([, way = '']) => resolve(dirname(path), way))
    .filter((target) => existsSync(target))
  const module = { asks: /\binject\(/.test(text), imports }
  modules.set(path, module)
  return module
}
