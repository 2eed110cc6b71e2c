import { parse } from 'node:querystring'
import fc from 'fast-check'
import { afterEach, describe, expect, it, test, vi } from 'vitest'
import { slowSteps, turnsDuring } from '../../../test/turns-during.ts'
import { formReader, MOST_FORM_FIELDS, readFormBody } from './form-body.ts'

const fields = (count: number) => Array.from({ length: count }, (_, i) => `f${i}=${i}`).join('&')

describe('a form', () => {
  it.each([
    ['broken UTF-8', Buffer.from([0x61, 0x3d, 0xff])],
    ['broken UTF-8 that is escaped', Buffer.from('a=%FC')],
    ['__proto__', Buffer.from('__proto__=1')],
    ['constructor', Buffer.from('a=1&constructor=2')],
    ['U+0000', Buffer.from('a=%00')],
    ['one name too many', Buffer.from(fields(MOST_FORM_FIELDS + 1))],
    ['one value of a name too many', Buffer.from('a&'.repeat(MOST_FORM_FIELDS))],
  ])('refuses %s', (_name, body) => {
    expect(() => readFormBody(body)).toThrow(expect.objectContaining({ code: 'INVALID_BODY' }))
  })

  it.each([
    ['', undefined],
    ['title=Buy+milk&status=open', { title: 'Buy milk', status: 'open' }],
    ['tag=a&tag=b', { tag: ['a', 'b'] }],
    ['empty=&name=%C3%A9', { empty: '', name: 'é' }],
    ['half=%zz', { half: '%zz' }],
    ['\ufeffa=1', { a: '1' }],
  ])('reads %s', (body, value) => {
    expect(readFormBody(Buffer.from(body))).toEqual(value)
  })

  it.each([
    ['windows-1252', 'a=gr%FC%DFe+%80', { a: 'grüße €' }],
    ['ISO-8859-1', 'a=%FC', { a: 'ü' }],
    ['shift_jis', 'a=%93%8C%8B%9E', { a: '東京' }],
    ['UTF-8', 'a=%C3%BC', { a: 'ü' }],
  ])('of the character set %s is read as that', (charset, body, value) => {
    expect(formReader(charset)?.(Buffer.from(body))).toEqual(value)
  })

  it('of a character set that is not known, or has other bytes for its signs, has no parser', () => {
    expect([formReader('klingon'), formReader('utf-16')]).toEqual([undefined, undefined])
  })

  it('reads all of the longest one', () => {
    const read = readFormBody(Buffer.from(fields(MOST_FORM_FIELDS))) ?? {}
    expect(Object.keys(read)).toHaveLength(MOST_FORM_FIELDS)
  })
})

const piece = fc.constantFrom(
  ...'&&==++%% %41 %2B %26 %C3%A9 %zz %4 a b é 😀 __ 1'.split(' '),
  '%',
  '&a',
  '=',
)

it('a form is read as Node reads it', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('')
      // Node's own loses what is not ASCII beside what is not valid.
      fc.pre(!/[^\x20-\x7e]/.test(text) || isDecodable(text))
      const requested = { ...parse(text, '&', '=', { maxKeys: 0 }) }
      const bytes = Buffer.from(text)
      if (JSON.stringify(requested).includes('\ufffd')) expect(() => readFormBody(bytes)).toThrow('not UTF-8')
      else expect(readFormBody(bytes) ?? {}).toEqual(requested)
    }),
    { numRuns: 3_000 },
  )
})

it('what is not valid is kept beside other letters', () => {
  expect(readFormBody(Buffer.from('é=%zz+é%C'))).toEqual({ é: '%zz é%C' })
})

function isDecodable(text: string): boolean {
  try {
    for (const part of text.split(/[&=]/)) decodeURIComponent(part)
    return true
  } catch {
    return false
  }
}

describe('a form of more than a megabyte is read in turns', () => {
  afterEach(() => vi.restoreAllMocks())
  test.each([
    ['blanks', `a=${'+'.repeat(2_000_000)}`, { a: ' '.repeat(2_000_000) }],
    ['escapes', `a=${'%61'.repeat(700_000)}`, { a: 'a'.repeat(700_000) }],
  ])('one of %s', async (_name, text, value) => {
    slowSteps()
    let form: unknown
    const read = async () => {
      form = await readFormBody(Buffer.from(text))
    }
    expect(await turnsDuring(read)).toBeGreaterThan(text.length / 65_536)
    expect(form).toEqual(value)
  })

  test('one that is not UTF-8 is refused', async () => {
    const read = async () => await readFormBody(Buffer.from(`a=${'%ff'.repeat(700_000)}`))
    await expect(read()).rejects.toThrow('The form is not UTF-8.')
  })
})
