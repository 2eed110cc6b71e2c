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

const crm = readdirSync(join(examples, 'crm')).filter((file) => file.endsWith('.blueprint.json'))

test.each<[string, readonly string[], number]>([
  ['tasks', ['tasks.blueprint.json'], 16],
  ['the CRM', crm.map((file) => join('crm', file)), 205],
  ['the inventory', ['inventory.blueprint.json'], 35],
  ['the booking service', ['booking.blueprint.json'], 45],
  ['the webhook receiver', ['webhooks.blueprint.json'], 18],
])('%s has few blocks', (_name, files, most) => {
  expect(files.length).toBeGreaterThan(0)
  const count = files.reduce((sum, file) => sum + blocksOf(file), 0)
  expect(count).toBeGreaterThan(0)
  expect(count).toBeLessThanOrEqual(most)
})
