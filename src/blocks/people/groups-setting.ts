/** Names of authentication groups. A deploy asks for each scope of these: see `flows/live/deploy-blueprint.ts`. */
export function groupsSetting(help: string) {
  return {
    kind: 'names',
    help: `${help} The deployer must hold each of their scopes.`,
  } as const
}
