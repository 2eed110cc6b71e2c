/** Solves a challenge beside the page, which stays usable. */
import { solve } from './proof-solver.js'

addEventListener('message', ({ data }) => postMessage(solve(data)))
