/** How few blocks the examples take: what expressions say needs no blocks. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isJsonObject } from '../src/shared/json.ts'

const examples = join(import.meta.dirname, '..', 'examples')

function blocksOf(file: string): number {
  const blueprint: unknown = JSON.parse(readFileSync(join(examples, file), 'utf8'))
  if (!isJsonObject(blueprint) || !isJsonObject(blueprint.blocks))
    throw new TypeError(`${file} has no blocks`)
  return Object.keys(blueprint.blocks).length
}

const filesOf = (folder: string) =>
  readdirSync(join(examples, folder, 'blueprints')).map((file) => join(folder, 'blueprints', file))

test.each<[string, string, number]>([
  ['tasks', 'tasks', 16],
  ['the CRM', 'crm', 205],
  ['the inventory', 'inventory', 35],
  ['the booking service', 'booking', 45],
  ['the webhook receiver', 'webhooks', 18],
])('%s has few blocks', (_name, folder, most) => {
  const files = filesOf(folder)
  expect(files.length).toBeGreaterThan(0)
  const count = files.reduce((sum, file) => sum + blocksOf(file), 0)
  expect(count).toBeGreaterThan(0)
  expect(count).toBeLessThanOrEqual(most)
})
