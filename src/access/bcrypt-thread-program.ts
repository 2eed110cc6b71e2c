/** What the thread of `foreign-hash.ts` runs. Not to be imported. */
import { parentPort, workerData } from 'node:worker_threads'
import { compareSync } from 'bcryptjs'
import type { BcryptTask } from './foreign-hash.ts'

const { password, hash }: BcryptTask = workerData

parentPort?.postMessage(compareSync(password, hash))
