/**
 * Where npm reads its settings, for an npm in a folder with another home: which registry it asks stands there. npm and npx
 * hand it to what they run.
 */
export function npmSettings(): Record<string, string> {
  const names = ['npm_config_globalconfig', 'npm_config_userconfig', 'npm_config_registry']
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}
