import { describe, expect, it } from 'vitest'
import { isOffered, placeOf, sectionOf, sections } from './sections.ts'

describe('the navigation', () => {
  it.each([
    ['/nowhere', undefined, undefined],
    ['/blueprints', 'Blueprints', 'All blueprints'],
    ['/blueprints/explain', 'Blueprints', 'Explain a 404'],
    ['/blueprints/0199', 'Blueprints', 'All blueprints'],
    ['/data/storages/0199/documents', 'Data', 'Storages'],
    ['/data/fields', 'Data', 'Fields'],
    ['/assets/0199', 'Assets', undefined],
    ['/apiary', undefined, undefined],
  ])('%s is in %s, %s', (path, section, place) => {
    const found = sectionOf(path)
    expect(found?.label).toBe(section)
    expect(found && placeOf(found, path)?.label).toBe(place)
  })

  it('heads the seventeen places of Operate in groups of at most four', () => {
    const { places = [] } = sections.find(({ path }) => path === '/operate') ?? {}
    const heads = places.flatMap(({ group }, at) => (group !== undefined || at === 0 ? [at] : []))
    const sizes = heads.map((at, i) => (heads[i + 1] ?? places.length) - at)
    expect(sizes).toEqual([3, 3, 3, 4, 4])
  })

  it.each<[string, string, boolean, { space?: true } | undefined]>([
    ['no place of the operator before it is known', '/operate/spaces', false, undefined],
    ['none in a space', '/operate/spaces', false, { space: true }],
    ['those of the operator outside of spaces', '/operate/spaces', true, {}],
    ['any other one in a space', '/operate/backups', true, { space: true }],
    ['any other one before it is known', '/operate', true, undefined],
    ['a screen without a place', '/account', true, undefined],
  ])('offers %s', (_what, path, offered, flags) => {
    const info = flags && { flags: { storage: 'sqlite' as const, ...flags } }
    expect(isOffered(path, info)).toBe(offered)
  })

  it('has a letter of its own for each section', () => {
    expect(new Set(sections.map(({ letter }) => letter)).size).toBe(sections.length)
  })
})
