import { expect, test } from 'vitest'
import { answeredKeys, askedLanguages, chosenLanguage, languageTag, translatedText } from './translations.ts'

const translations = {
  fallback: 'en',
  languages: {
    en: { title: 'Hello {name}', 'deals.one': '{count} deal', 'deals.other': '{count} deals', only: 'here' },
    de: { title: 'Guten Tag {name}', 'deals.one': '{count} Geschäft', 'deals.other': '{count} Geschäfte' },
    'de-AT': { title: 'Servus {name}' },
    'pt-BR': { title: 'Olá {name}' },
    pl: { 'deals.few': '{count} umowy', 'deals.many': '{count} umów', 'deals.other': '{count} umowy' },
  },
}

test.each([
  [undefined, 'en', 'en'],
  ['', 'en', 'en'],
  ['--;;,', 'en', 'en'],
  ['fr', 'en', 'en'],
  ['constructor', 'en', 'en'],
  ['de', 'de', 'de'],
  ['de-CH', 'de', 'de-CH'],
  ['de-at', 'de-AT', 'de-AT'],
  ['de-Latn-AT', 'de-AT', 'de-AT'],
  ['pt', 'pt-BR', 'pt-BR'],
  ['fr, pt-PT;q=0.5', 'pt-BR', 'pt-PT'],
  ['en;q=0.5, de;q=0.8', 'de', 'de'],
  ['de;q=0, en', 'en', 'en'],
])('%j chooses %s, with the numbers of %s', (asked, language, locale) => {
  expect(chosenLanguage(translations, asked)).toEqual({ language, locale })
})

test.each([
  ['de', 'none', {}, undefined],
  ['de', 'constructor', {}, undefined],
  ['de', 'title', {}, 'Guten Tag {name}'],
  ['de', 'title', { name: 'Ann' }, 'Guten Tag Ann'],
  ['de', 'title', { name: ['Ann'] }, 'Guten Tag {name}'],
  ['de-AT', 'title', { name: true }, 'Servus true'],
  // Of the language without its region, then of the fallback, with its numbers.
  ['de-AT', 'deals', { count: 1 }, '1 Geschäft'],
  ['de-AT', 'deals', { count: 1200 }, '1 200 Geschäfte'],
  ['de', 'deals', { count: 1200 }, '1.200 Geschäfte'],
  ['de', 'only', {}, 'here'],
  ['pt', 'deals', { count: 1200 }, '1,200 deals'],
  ['pl', 'deals', { count: 3 }, '3 umowy'],
  ['pl', 'deals', { count: 5 }, '5 umów'],
  // A form that is not written.
  ['pl', 'deals', { count: 1 }, '1 umowy'],
  ['en', 'deals', {}, '{count} deals'],
] as const)('%s reads %s with %j', (asked, key, values, text) => {
  const read = translatedText(translations, chosenLanguage(translations, asked), key, { ...values })
  expect(read?.replaceAll(/\s/g, ' ')).toBe(text)
})

test.each([
  [undefined, 'fr', 'fr'],
  [{ language: 'en' }, 'fr', 'fr'],
  [{ language: '' }, 'fr', 'fr'],
  [{ language: 'de' }, undefined, 'de,'],
  [{ language: 'de' }, 'fr', 'de,fr'],
])('a user %j with a browser that asks for %j reads %j', (user, header, asked) => {
  expect(askedLanguages(user, header)).toBe(asked)
})

test('names of files are tags, and plural forms answer their key', () => {
  expect(['de', 'pt-br', 'e', 'not a tag', 'en_us'].map(languageTag)).toEqual([
    ...['de', 'pt-BR', undefined, undefined, undefined],
  ])
  expect(['title', 'deals.other', 'a.b.few', 'few', 'a.fewer'].map(answeredKeys)).toEqual([
    ...[['title'], ['deals.other', 'deals'], ['a.b.few', 'a.b'], ['few'], ['a.fewer']],
  ])
})
