declare const core: any
export default core
