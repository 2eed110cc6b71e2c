import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { readPageAssets } from './page-assets.ts'

const { assets, files } = await readPageAssets()
const ofType = (type: string) => assets.filter((asset) => asset.type.startsWith(type))

test('every file of the two folders is served, and every module is named in the page, but for those that few pages load', () => {
  const scripts = readdirSync(join(import.meta.dirname, 'browser')).filter((name) => name.endsWith('.js'))
  const named = [files.script, ...files.modules].map((address) => address.split('/').at(-1))
  const lazy = ['passkeys.js', 'proof.js', 'proof-solver.js', 'proof-worker.js']
  expect([...named, ...lazy].sort()).toEqual(scripts.sort())
  expect(
    ofType('text/javascript')
      .map(({ name }) => `/_pages/${name}`)
      .sort(),
  ).toEqual(
    [files.script, ...files.modules, ...lazy.map((name) => files.script.replace('live.js', name))].sort(),
  )
  const css = ofType('text/css')[0]?.body.toString() ?? ''
  for (const name of readdirSync(join(import.meta.dirname, 'theme')).filter((one) => one.endsWith('.css'))) {
    const lines = readFileSync(join(import.meta.dirname, 'theme', name), 'utf8').split('\n')
    const declarations = lines.map((line) => line.trim()).filter((line) => line.endsWith(';'))
    expect([name, declarations.length > 5, declarations.filter((line) => !css.includes(line))]).toEqual([
      name,
      true,
      [],
    ])
  }
})

test('what a module imports is there', () => {
  for (const { name, body } of ofType('text/javascript'))
    for (const [, requested] of body.toString().matchAll(/from '\.\/([^']+)'/g))
      expect([name, assets.some((asset) => asset.name.endsWith(`/${requested}`))]).toEqual([name, true])
})

test('all of it is small: less than 30 KB of style and script over the wire', async () => {
  const weight = async (type: string) => {
    const sizes = await Promise.all(ofType(type).map(async ({ br }) => (await br()).length))
    return sizes.reduce((sum, size) => sum + size, 0)
  }
  const [script, style] = [await weight('text/javascript'), await weight('text/css')]
  expect(script).toBeLessThan(10_000)
  expect(style + script).toBeLessThan(30_000)
  expect(style).toBeGreaterThan(1_000)
})

test('what is compressed is what is not, and is worked out once', async () => {
  for (const { body, br, gzip } of assets) {
    expect([brotliDecompressSync(await br()), gunzipSync(await gzip())]).toEqual([body, body])
    expect(br()).toBe(br())
  }
})

test('names hold one hash, and no file refers to another place', async () => {
  const folders = new Set(assets.map(({ name }) => name.split('/')[0]))
  expect([...folders]).toEqual([expect.stringMatching(/^[0-9a-f]{12}$/)])
  for (const { body, type } of assets)
    if (!type.includes('svg'))
      expect(body.toString()).not.toMatch(/https?:\/\/|url\(|@import|\beval\b|new Function/)
})
