/** What the published package holds, and what refuses to set up or run. */
import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { isSupportedNode, unsupportedNode } from '../../bin/supported-node.mjs'

const root = join(import.meta.dirname, '..', '..')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

test('every file beside the sources that the program reads is in the package', () => {
  const read = globSync('{src/**/*.{sql,css,js,svg,fuse},examples/**/*}', {
    cwd: root,
    exclude: ['src/studio/**', 'src/**/*.example.json'],
  })
  const packed = new Set(
    globSync(
      manifest.files.map((pattern: string) => (/[*.]/.test(pattern) ? pattern : `${pattern}/**`)),
      { cwd: root },
    ),
  )
  expect(read.length).toBeGreaterThan(30)
  expect(read.filter((file) => !packed.has(file))).toEqual([])
})

// npm refuses to make the bill of materials otherwise, and with it the package and the image.
test('every package of this repository has a version', () => {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const own = Object.keys(lock.packages).filter((path) => !path.includes('node_modules/'))
  expect(own).toEqual(['', ...manifest.workspaces])
  for (const path of own) {
    const { name, version } = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'))
    expect({ name, version }).toEqual({ name, version: lock.packages[path].version ?? 'none' })
  }
})

// 23 packages had none, so that a mirror could have sent something else.
test('every package of the lock file has a hash', () => {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const wrong = Object.entries(lock.packages).filter(([path, of]) => {
    const { integrity, link } = Object(of)
    return path.includes('node_modules/') && link !== true && !/^sha512-[\w+/]{86}==$/.test(integrity)
  })
  expect(Object.keys(lock.packages).length).toBeGreaterThan(300)
  expect(wrong.map(([path]) => path)).toEqual([])
})

test.each([
  ['18.20.4', false],
  ['22.21.0', false],
  ['24.14.9', false],
  ['24.15.0', true],
  ['v26.10.0', true],
])('Node %s is supported: %s, as package.json says', (version, supported) => {
  expect(isSupportedNode(version)).toBe(supported)
  expect(manifest.engines.node).toBe('>=24.15')
})

test('an unsupported Node is told so in one line', () => {
  expect(unsupportedNode('v22.1.0')).toMatch(
    /^Quoin needs Node 24\.15 or newer; this is Node 22\.1\.0\. [^\n]+$/,
  )
})

test('a checkout refuses pnpm in one line and touches nothing', async () => {
  const env = { npm_config_user_agent: 'pnpm/10.1.0 npm/? node/v26.0.0 linux x64' }
  const refused = promisify(execFile)(process.execPath, ['scripts/setup.mjs', 'start'], { cwd: root, env })
  await expect(refused).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^A checkout .* npm start\..*\n$/),
  })
})
