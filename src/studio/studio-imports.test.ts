/** What the studio loads comes over the network: a schema library that only the server needs would be 17 KiB more (compressed). */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'

const importing =
  /(?:^|\n)(?:import|export) (?!type\b)(?:[^'"]*? from )?['"]([^'"]+)['"]|import\(['"]([^'"]+)['"]\)/g

/** Each file that is loaded at some time, and the packages that it imports. */
function loadedFrom(file: string, seen = new Map<string, readonly string[]>()): typeof seen {
  if (seen.has(file)) return seen
  const names = [...readFileSync(file, 'utf8').matchAll(importing)].map(
    ([, all, later]) => all ?? later ?? '',
  )
  seen.set(
    file,
    names.filter((name) => !name.startsWith('.')),
  )
  for (const name of names.filter((one) => /^\..*\.tsx?$/.test(one))) {
    const path = join(dirname(file), name)
    if (existsSync(path)) loadedFrom(path, seen)
  }
  return seen
}

test('no file of the studio loads what only the server needs', () => {
  const loaded = loadedFrom(join(import.meta.dirname, 'main.ts'))
  const places = [...loaded].map(([file]) => relative(import.meta.dirname, file))
  // The check sees the whole studio, and what it shares.
  expect(places).toEqual(expect.arrayContaining(['editor/canvas/canvas.tsx', '../shared/empty-content.ts']))
  expect(places.length).toBeGreaterThan(300)
  const packages = new Set([...loaded.values()].flat())
  expect(packages).toContain('@xyflow/react')
  const foreign = [...packages].filter((name) => /^(?:typebox|node:|fastify|pg\b)/.test(name))
  expect(foreign).toEqual([])
})

test('the part with the sign-in form imports nothing of another part, which would wait for it in turn', () => {
  const config = readFileSync(join(import.meta.dirname, 'vite.config.ts'), 'utf8')
  const [, pattern = ''] = /name: 'sign-in',\s+test: \/(.+)\/,/.exec(config) ?? []
  const isPart = (file: string) => new RegExp(pattern).test(`src/studio/${file}`)
  const part = globSync('**/*.ts', { cwd: import.meta.dirname }).filter(isPart)
  expect(part).toEqual(expect.arrayContaining(['api/session.ts', 'sign-in/sign-in-form.ts']))
  const foreign = part.flatMap((file) => {
    const text = readFileSync(join(import.meta.dirname, file), 'utf8')
    const names = [...text.matchAll(importing)].flatMap(([, always]) => always ?? [])
    const local = names.filter((name) => /^\..*\.ts$/.test(name)).map((name) => join(dirname(file), name))
    return local.filter((name) => !isPart(name)).map((name) => `${file} imports ${name}`)
  })
  expect(foreign).toEqual([])
})
