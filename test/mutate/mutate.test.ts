/**
 * The tool that changes blocks, and that it can fail. All breaks are tried in mutate.torture.test.ts, all mutants by
 * `npm run mutate`.
 */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { acceptedSurvivors, gone } from './accepted-survivors.ts'
import { allMutants, contractBlocks } from './all-mutants.ts'
import { switchedTexts } from './chosen-mutants.ts'
import { changesOfNode } from './code-operators.ts'
import { type Edit, edited, nameOf } from './mutant.ts'
import { acceptedInRooms, endOf, inCopy, mutantsOf, placeOf, rooms, verdictOf } from './mutate-room.ts'
import { runProgram } from './run-program.ts'
import { switchedText } from './switched-text.ts'

/** All texts that the operators make of one. */
function changed(text: string): string[] {
  const source = ts.createSourceFile('x.ts', text, ts.ScriptTarget.Latest, true)
  const all: Edit[][] = []
  const visit = (node: ts.Node): void => {
    all.push(...changesOfNode(node, source, () => true))
    ts.forEachChild(node, visit)
  }
  visit(source)
  return all.map((edits) => edited(text, edits))
}

describe('the changes', () => {
  test.each([
    ['const a = b ? 1 : x', ['const a = (1)', 'const a = (x)', 'const a = b ? (1 + 1) : x']],
    ['const a = b ?? c', ['const a = (b)', 'const a = (c)']],
    ['const a = b < c && d', ['const a = b < c || d', 'const a = b <= c && d']],
    [
      'if (a === b) throw c',
      ['if (false) throw c', 'if (a !== b) throw c', 'if (a === b) throw c'].slice(0, 2),
    ],
    ['f(); g()', [';g()', 'f();;'].map((text) => text.replace(';g', '; g').replace(';;', '; ;'))],
    ['const a = { b, c: true }', ['const a = { c: true }', 'const a = { b,  }', 'const a = { b, c: false }']],
    ['const a = b.trim()', ['const a = b']],
    ['const a = b.length > MOST', []],
  ])('of %s', (text, expected) => {
    expect(changed(text)).toEqual(expected)
  })

  test('of code that is loaded once are in it, and turned off', () => {
    const text = 'const a = f(b)\nif (a) g()\n'
    const changes = [
      { name: 'one', find: 'f(b)', replace: '0' },
      { name: 'two', find: 'if (a) g()', replace: '' },
    ]
    expect(switchedText('x.ts', text, changes)).toBe(
      'const a = (globalThis.switchedOn === "one" ? (0) : (f(b)))\nif (globalThis.switchedOn === "two") {  } else { if (a) g() }\n',
    )
    const bad = (find: string) => () => switchedText('x.ts', text, [{ name: 'bad', find, replace: '' }])
    expect(bad('nowhere')).toThrow('not there exactly once')
    expect(bad('a')).toThrow('not there exactly once')
    expect(bad('const a =')).toThrow('no whole expression')
  })
})

describe('the changes of a room', () => {
  test('have the function that they are in, by which their suites are found', () => {
    const text =
      'export function outer(a: number) {\n  const inner = () => a < 1\n  return inner() ? 2 : a\n}\n'
    const found = mutantsOf('x.ts', text).map(({ name, line, change }) => `${name} ${line} ${change}`)
    expect(found).toContain('inner 2 < → <=')
    expect(found).toContain('outer 3 inner() ? 2 : a → (a)')
  })

  test.each([
    ['a failed test', 1, '{"numFailedTests":1,"numFailedTestSuites":1}', 'killed'],
    ['a suite that cannot be loaded', 1, '{"numFailedTests":0,"numFailedTestSuites":1}', 'killed'],
    ['no failed test', 0, '{"numFailedTests":0,"numFailedTestSuites":0}', 'survived'],
    ['an exit code without a failed test', 1, '{"numFailedTests":0,"numFailedTestSuites":0}', 'no verdict'],
    ['no report', 1, undefined, 'no verdict'],
    ['a run that took too long', undefined, undefined, 'timed out'],
  ])('are judged by %s', (_, code, report, verdict) => {
    expect(verdictOf(code, report)).toBe(verdict)
  })

  test('a run that takes too long is killed, and has no exit code', async () => {
    const never = new AbortController().signal
    const hangs = ['--eval', 'setInterval(() => undefined, 1_000)']
    expect(await endOf(hangs, '.', 100, never)).toBeUndefined()
    expect(await endOf(['--eval', 'process.exit(3)'], '.', 60_000, never)).toBe(3)
  })

  test('their copy is removed when the program is asked to end', async () => {
    let folder = ''
    const ended = inCopy(async (copy, stopped) => {
      folder = dirname(copy)
      const under = endOf(['--eval', 'setInterval(() => undefined, 1_000)'], copy, 60_000, stopped)
      process.emit('SIGTERM', 'SIGTERM')
      await under
    }, '--no-checkout')
    await expect(ended).rejects.toThrow('stopped by SIGTERM')
    expect([folder === '', existsSync(folder)]).toEqual([false, false])
  })

  test('are of sources that there are', () => {
    const empty = Object.entries(rooms).filter(([, patterns]) =>
      patterns.some((one) => globSync(one).length === 0),
    )
    expect(empty).toEqual([])
  })
})

test('each survivor of a room that is accepted is one change, and says why', () => {
  const wrong = Object.entries(acceptedInRooms).filter(([place, reason]) => {
    const [file = ''] = place.split(' | ')
    const found = mutantsOf(file, readFileSync(file, 'utf8')).filter((one) => placeOf(one) === place)
    return found.length !== 1 || reason.length < 20
  })
  expect(wrong).toEqual([])
})

describe('the lists', () => {
  const mutants = allMutants({})

  test('each block of the contract has three mutants at least, each with a name of its own', () => {
    const few = contractBlocks().filter((block) => mutants.filter((one) => one.block === block).length < 3)
    expect(few).toEqual([])
    expect(new Set(mutants.map(nameOf)).size).toBe(mutants.length)
  })

  test('each survivor that is accepted is a mutant, and says why', () => {
    const accepted = acceptedSurvivors()
    expect(gone(accepted, mutants)).toEqual([])
    expect(accepted.filter(({ reason }) => reason.length < 20)).toEqual([])
    expect(new Set(accepted.map(nameOf)).size).toBe(accepted.length)
  })

  test('each chosen change is still in its file', () => {
    expect(() => switchedTexts()).not.toThrow()
  })

  test('control: one that is no mutant any more is seen', () => {
    const [mutant] = mutants
    if (mutant === undefined) throw new Error('There is no mutant.')
    const stale = { block: mutant.block, file: mutant.file, change: 'was → is', reason: '' }
    expect(gone([stale], mutants)).toEqual([nameOf(stale)])
  })
})

describe('scenarios', () => {
  test('see three breaks that they once did not', async () => {
    const blocks = ['function_return', 'httpconnection_set_json', 'state_render_page']
    const { code, output } = await runProgram('--deliberate', ...blocks.map((block) => `--only=${block}`))
    for (const block of blocks) expect(output).toContain(`${block}: 1 killed, 0 survived`)
    expect([code, output]).toEqual([0, output])
  })

  test('control: one that asserts nothing sees none', async () => {
    const { code, output } = await runProgram('--deliberate', '--only=function_return', '--empty')
    expect([code, output]).toEqual([1, expect.stringContaining('function_return: 0 killed, 1 survived')])
  })
})
