import { Type } from 'typebox'

/** Text or null. One schema with two types: as a union, each reply would be checked before it is written. */
export const nullableText = Type.Unsafe<string | null>({ type: ['string', 'null'] })
