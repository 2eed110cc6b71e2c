/** The order of relevance is that of the reference, however often documents were changed and deleted before. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { search } from '../../shared/query.ts'
import type { Session } from '../database.ts'
import { documentsOf } from '../find-documents.ts'
import { metaOf, set } from './expectations.ts'
import { searchDocuments } from './order-documents.ts'
import { rankedBody, rankedSearches } from './ranked-searches.ts'
import type { It, World } from './world.ts'

const DOCUMENTS = 40
const CHANGES = 400

async function expectReferenceOrder(session: Session, name: string): Promise<void> {
  const all = documentsOf(await session.find(name, search({ limit: 10_000, includeRemoved: true })))
  for (const requested of fc.sample(rankedSearches, { seed: 7, numRuns: 2 }).flat()) {
    const found = documentsOf(await session.find(name, requested))
    expect(found, JSON.stringify(requested)).toEqual(searchDocuments(all, requested))
  }
}

async function rewrite({ database, name }: World): Promise<void> {
  const bodies = fc.sample(rankedBody, { seed: 3, numRuns: DOCUMENTS + CHANGES })
  const guids: string[] = []
  const session = database.session()
  for (const [n, body] of bodies.entries()) {
    // Short commits and long ones.
    if (n % 7 === 0 || n % 90 > 70) await session.transaction.commit()
    const place = n < DOCUMENTS ? n : (n * 31) % DOCUMENTS
    const guid = guids[place]
    if (guid === undefined || n % 5 === 1) {
      if (guid !== undefined) await session.delete(name, guid)
      guids[place] = metaOf(await session.create(name, set(body))).guid
    } else if (n % 5 === 0) await session.setRemoved(name, guid, true)
    else await session.update(name, guid, set(body))
    if (n === 300) await expectReferenceOrder(session, name)
  }
  await session.transaction.commit()
}

export function rankingChapter(it: It): void {
  it('by relevance as the reference has it, after many changes, undone ones, and a restart', async (world) => {
    const { name } = world
    await world.database.ensure(name, { text: true })
    await rewrite(world)
    const session = world.database.session()
    for (let n = 0; n < 100; n++) await session.create(name, set({ note: `cat dog n${n}` }))
    await expectReferenceOrder(session, name)
    await session.transaction.rollback()
    await expectReferenceOrder(world.database.session(), name)
    await world.reopen()
    await expectReferenceOrder(world.database.session(), name)
  })

  it('by relevance, with an index of free text that was made later', async (world) => {
    await rewrite(world)
    await world.database.ensure(world.name, { text: true })
    await expectReferenceOrder(world.database.session(), world.name)
  })
}
