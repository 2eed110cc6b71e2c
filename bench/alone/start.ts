/** The program and its start, which new features must not make larger than they were. */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { programFolder } from '../../bin/program-folder.mjs'
import { startQuoin } from '../candidates.ts'
import { cpuMicroseconds } from '../cpu-time.ts'
import { signInBytes } from '../pages/page-weight.ts'
import { median } from '../statistics.ts'
import { type Goal, type GoalTiming, milliseconds, type Reached } from './goal.ts'

/** 8.26 MB at the beginning of the second round about speed, 2026-11-26. */
const MOST_MEGABYTES = 8.5
const MOST_START_MS = 800

export const start: Goal = {
  id: 'start',
  title: 'start of a server, and the size of the program',
  goal: `start in under ${MOST_START_MS / 1_000} s, at most ${MOST_MEGABYTES} MB`,
  measure,
}

const MOST_SIGN_IN_KB = 60

export const signIn: Goal = {
  id: 'sign-in',
  title: 'sign-in page of the studio, over the wire',
  goal: `at most ${MOST_SIGN_IN_KB} KB until the form is there`,
  async measure({ core }) {
    const candidate = await startQuoin({ core, installs: false })
    try {
      const kilobytes = (await signInBytes(`${candidate.base}/studio`)) / 1_000
      return { found: `${kilobytes.toFixed(1)} KB`, met: kilobytes <= MOST_SIGN_IN_KB }
    } finally {
      await candidate.close()
    }
  },
}

async function measure({ core, rounds }: GoalTiming): Promise<Reached> {
  const starts: number[] = []
  const spent: number[] = []
  for (let round = 0; round < rounds; round++) {
    const candidate = await startQuoin({ core, installs: false })
    starts.push(candidate.startMs)
    spent.push((cpuMicroseconds(candidate.pid) ?? Number.NaN) / 1_000)
    await candidate.close()
  }
  const [time, megabytes] = [median(starts), (await bytesOf(programFolder())) / 1e6]
  const found = `start ${milliseconds(time)} (${milliseconds(Math.min(...spent))} of processor time at best, signing in included), program ${megabytes.toFixed(2)} MB`
  return { found, met: time < MOST_START_MS && megabytes <= MOST_MEGABYTES }
}

async function bytesOf(folder: string): Promise<number> {
  const files = await readdir(folder)
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}
