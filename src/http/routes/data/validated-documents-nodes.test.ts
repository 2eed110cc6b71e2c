/** A change of a rule counts on every node from the moment on at which it is acknowledged. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { guidOf, objectsOf, openTestQuoin, type TestQuoin } from '../../../../test/end-to-end/harness.ts'
import { quoinTemplate } from '../../../../test/quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../../test/temporary-database.ts'

describe('two nodes', () => {
  let temporary: TemporaryDatabase
  const nodes: TestQuoin[] = []
  let storage = ''

  beforeAll(async () => {
    temporary = await openTemporaryDatabase(quoinTemplate)
    for (const name of ['one', 'two'])
      nodes.push(
        await openTestQuoin({ DATABASE_URL: temporary.url, QUOIN_NODE: name, QUOIN_RATE_LIMIT: '0' }),
      )
    const [one] = nodes
    storage = guidOf(await one?.manage('POST', '/_system/storages', { name: 'deals' }))
    await one?.addUser('ann', ['storages_view'])
    await one?.manage('POST', `/_system/storages/${storage}/documents`, { owner: 'ann', margin: 7 })
    await one?.manage('POST', `/_system/storages/${storage}/documents`, { owner: 'bob', margin: 8 })
  })
  afterAll(async () => {
    for (const node of nodes) await node.close()
    await temporary?.drop()
  })

  test('hide and show at once what the other one has changed', async () => {
    const [one, two] = nodes
    if (!one || !two) throw new Error('There are two nodes.')
    const seen = async (node: TestQuoin) => {
      const path = `/_system/storages/${storage}/documents/search`
      const { body } = await node.send('POST', path, { as: 'ann', body: {} })
      return objectsOf(body).map(({ owner, margin }) => `${String(owner)} ${String(margin)}`)
    }
    const all = ['bob 8', 'ann 7']
    const field = guidOf(
      await one.manage('POST', '/blueprintfields', { storage: 'deals', name: 'margin', type: 'number' }),
    )
    for (const _ of [1, 2, 3]) {
      expect([await seen(one), await seen(two)]).toEqual([all, all])
      await two.manage('PUT', `/_system/storages/${storage}`, {
        rules: { see: 'doc.owner == user.username' },
      })
      expect([await seen(one), await seen(two)]).toEqual([['ann 7'], ['ann 7']])
      await one.manage('PUT', `/blueprintfields/${field}`, { visible_to: 'false' })
      expect([await seen(two), await seen(one)]).toEqual([['ann undefined'], ['ann undefined']])
      await two.manage('PUT', `/blueprintfields/${field}`, { visible_to: null })
      await one.manage('PUT', `/_system/storages/${storage}`, { rules: null })
    }
  })
})
