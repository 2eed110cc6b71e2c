// What `npm start` runs: `quoin start`, started again when its watchdog or an exception has ended it.
import { fileURLToPath } from 'node:url'
import { keepRunning } from './keep-running.mjs'

keepRunning(fileURLToPath(new URL('quoin.mjs', import.meta.url)), process.argv.slice(2))
