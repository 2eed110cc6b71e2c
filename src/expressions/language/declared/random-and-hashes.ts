import type { FunctionDeclaration } from '../function-declaration.ts'
import { condition, text, whole } from './input-names.ts'

const algorithm = { name: 'algorithm', type: text } as const
const textIn = { name: 'text', type: text } as const

export const randomAndHashFunctions = [
  {
    name: 'uuid',
    work: 60,
    parameters: [],
    gives: text,
    help: 'A new GUID (UUID version 7): later ones come later in the order of texts.',
    example: 'uuid()',
    varies: 'random',
  },
  {
    name: 'randomToken',
    work: 50,
    parameters: [],
    gives: text,
    help: 'A text of 43 letters, digits, - and _ that cannot be guessed (256 random bits).',
    example: 'randomToken()',
    varies: 'random',
  },
  {
    name: 'randomNumber',
    work: 50,
    parameters: [
      { name: 'from', type: whole },
      { name: 'to', type: whole },
    ],
    gives: whole,
    help: 'A whole number from one to another, both included; each is equally likely and cannot be guessed.',
    example: 'randomNumber(1, 6)',
    varies: 'random',
  },
  {
    name: 'hash',
    work: 35,
    parameters: [algorithm, textIn],
    gives: text,
    help: "The hash of the text (UTF-8) as hexadecimal digits: 'sha256', 'sha384', 'sha512'; 'md5' and 'sha1' only for systems that ask for them.",
    example: "hash('sha256', 'abc')",
    result: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  },
  {
    name: 'hmac',
    work: 50,
    parameters: [algorithm, { name: 'key', type: text }, textIn],
    gives: text,
    help: 'The signature (HMAC) of the text with a secret key as hexadecimal digits, with an algorithm as for `hash`.',
    example: "hmac('sha256', 'Jefe', 'what do ya want for nothing?')",
    result: '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  },
  {
    name: 'equalInConstantTime',
    work: 90,
    parameters: [
      { ...textIn, name: 'a' },
      { ...textIn, name: 'b', takesNothing: true },
    ],
    gives: condition,
    help: 'Whether two texts are equal, without telling by its time how much of them is: for signatures and tokens.',
    example: "equalInConstantTime('secret', 'secreT')",
    result: false,
  },
] as const satisfies readonly FunctionDeclaration[]
