import { expect, test } from 'vitest'
import type { CompiledFlow, Frame, Step } from '../compile/frame.ts'
import { RunSteps } from './run-steps.ts'
import { type FlowName, RUNNING_CELL, RunningFlow } from './running-flow.ts'

const flowOf = (trigger: string): CompiledFlow => ({
  trigger,
  slots: [],
  accept: () => undefined,
  first: undefined,
})

test('each flow has a number, and who follows is told all of them, once', () => {
  const running = new RunningFlow()
  const [one, two] = [flowOf('one'), flowOf('two')]
  expect([running.numberOf(one, 'a'), running.numberOf(one, 'a')]).toEqual([1, 1])
  const reported: [number, FlowName][] = []
  running.follow((number, name) => void reported.push([number, name]))
  expect([running.numberOf(two, 'b'), running.numberOf(one, 'a')]).toEqual([2, 1])
  expect(reported).toEqual([
    [1, { blueprint: 'a', block: 'one' }],
    [2, { blueprint: 'b', block: 'two' }],
  ])
})

test('copies of a flow, as replays compile them, share its number: the list does not grow with runs', () => {
  const running = new RunningFlow()
  const reported: number[] = []
  running.follow((number) => void reported.push(number))
  const numbers = Array.from({ length: 100 }, () => running.numberOf(flowOf('one'), 'a'))
  expect([new Set(numbers), reported]).toEqual([new Set([1]), [1]])
  expect([running.numberOf(flowOf('one'), 'b'), running.numberOf(flowOf('two'), 'a')]).toEqual([2, 3])
})

test('the flows of a space are told apart by its guid, with numbers and memory of the process', () => {
  const running = new RunningFlow()
  const space = new RunningFlow(running, 's')
  const reported: FlowName[] = []
  running.follow((_number, name) => void reported.push(name))
  expect([running.numberOf(flowOf('one'), 'a'), space.numberOf(flowOf('one'), 'a')]).toEqual([1, 2])
  expect(reported).toEqual([
    { blueprint: 'a', block: 'one' },
    { blueprint: 'a', block: 'one', space: 's' },
  ])
  expect(space.cells).toBe(running.cells)
})

test('the number is there while blocks are executed, and neither while the run waits nor after it', async () => {
  const { cells } = new RunningFlow()
  const seen: (number | undefined)[] = []
  const look = () => seen.push(cells[RUNNING_CELL])
  const limits = { deadline: 1e9, budget: 1_000, depth: 8 }
  const steps = new RunSteps(() => 0, limits, { cells, number: 7 })
  const last: Step = () => {
    steps.checkpoint()
    look()
    return undefined
  }
  const waits: Step = async () => {
    steps.checkpoint()
    look()
    await undefined
    return last
  }
  const first: Step = () => {
    steps.checkpoint()
    look()
    return waits
  }
  const frame = { run: {}, slots: [] } as unknown as Frame
  const driven = steps.drive(first, frame)
  look()
  await driven
  look()
  expect(seen).toEqual([7, 7, 0, 7, 0])
})
