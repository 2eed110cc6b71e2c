// `npm run check:changelog`: a change of the program has a line in CHANGELOG.md. Looks at what the branch has over its
// upstream, with what is not committed yet; a checkout without git or with nothing of its own passes.
import { spawnSync } from 'node:child_process'

function git(...words) {
  const { status, stdout } = spawnSync('git', words, { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

const upstream =
  git('rev-parse', '--verify', '--quiet', '@{upstream}') ??
  git('rev-parse', '--verify', '--quiet', 'origin/main')
const base =
  (upstream && git('merge-base', 'HEAD', upstream)) ?? git('rev-parse', '--verify', '--quiet', 'HEAD')
if (base) {
  const listed = [git('diff', '--name-only', base), git('ls-files', '--others', '--exclude-standard')]
  const changed = listed.flatMap((lines) => lines?.split('\n') ?? [])
  const program = changed.filter((file) => /^(src|bin)\//.test(file) && !/\.test\.tsx?$/.test(file))
  if (program.length > 0 && !changed.includes('CHANGELOG.md')) {
    console.error(`CHANGELOG.md has no line of this change (${program[0]}): add one below "Unreleased".`)
    process.exitCode = 1
  }
}
