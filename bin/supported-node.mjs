/** The oldest Node that runs Quoin: `engines` of package.json says the same. Readable by Node 18, which has to be told. */
const oldest = [24, 15]

/** @param version as `process.versions.node` has it, with or without a `v` */
export function isSupportedNode(version) {
  const [major, minor] = version.replace('v', '').split('.').map(Number)
  return major > oldest[0] || (major === oldest[0] && minor >= oldest[1])
}

/** One line for the terminal. */
export function unsupportedNode(version) {
  return `Quoin needs Node ${oldest.join('.')} or newer; this is Node ${version.replace('v', '')}. Install Node 26: https://nodejs.org`
}
