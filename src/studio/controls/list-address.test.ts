import { describe, expect, it } from 'vitest'
import { bodyOf, pageWords, readListAddress, withWords } from './list-address.ts'

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
  ])('%s searches for', (text, body) => {
    expect(bodyOf(read(text), 50)).toEqual(body)
  })

  it('takes a cursor only where page numbers end', () => {
    expect(pageWords(201, 50, 'c')).toEqual({ page: '201', after: '' })
    expect(pageWords(202, 50, 'c')).toEqual({ page: '202', after: 'c' })
    expect(pageWords(1, 50, 'c')).toEqual({ page: '', after: '' })
  })

  it('begins anew when anything but the page changes', () => {
    const before = new URLSearchParams('q=a&page=4&after=c&open=g')
    expect(withWords(before, { q: 'b' }).toString()).toBe('q=b&open=g')
    expect(withWords(before, { page: '5' }).toString()).toBe('q=a&page=5&open=g')
    expect(withWords(before, { q: '' }).toString()).toBe('open=g')
  })
})
