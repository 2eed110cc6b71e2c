import { describe, expect, it } from 'vitest'
import { bodyOf, readListAddress, shownPage, withWords } from './list-address.ts'

const read = (text: string) => readListAddress(new URLSearchParams(text))

describe('the address of a list', () => {
  it.each([
    ['page=0', { page: 1 }],
    ['page=-3', { page: 1 }],
    ['page=abc', { page: 1 }],
    ['page=1.5', { page: 1 }],
    ['sort=-', { sort: undefined }],
    ['', { query: '', page: 1, after: '', sort: undefined }],
    ['q=a+b&page=3', { query: 'a b', page: 3 }],
    ['sort=name', { sort: { field: 'name', order: 'asc' } }],
    ['sort=-_meta.created', { sort: { field: '_meta.created', order: 'desc' } }],
  ])('%s', (text, expected) => {
    expect(read(text)).toMatchObject(expected)
  })

  it.each([
    ['', { limit: 50 }],
    ['q=x&sort=-name&page=3', { limit: 50, query: 'x', sort: [{ name: 'desc' }], offset: 100 }],
    ['page=201', { limit: 50, offset: 10_000 }],
    ['page=202&after=cursor', { limit: 50, after: 'cursor' }],
    ['page=2001', { limit: 50, offset: 10_000 }],
    ['page=3&after=cursor', { limit: 50, offset: 100 }],
  ])('%s searches for', (text, body) => {
    expect(bodyOf(read(text), 50)).toEqual(body)
  })

  it.each([
    ['page=201', 201],
    ['page=2001', 201],
    ['page=2001&after=cursor', 2001],
  ])('%s shows page %i', (text, page) => {
    expect(shownPage(read(text), 50)).toBe(page)
  })

  it('starts at the first page when anything but the page changes', () => {
    const before = new URLSearchParams('q=a&page=4&after=c&open=g')
    expect(withWords(before, { q: 'b' }).toString()).toBe('q=b&open=g')
    expect(withWords(before, { page: '5' }).toString()).toBe('q=a&page=5&open=g')
    expect(withWords(before, { q: '' }).toString()).toBe('open=g')
  })
})
