"""English word lists that distinguish descriptions from other texts."""

from __future__ import annotations

VERBS = frozenset(
    """
    abort accept access accumulate acquire activate adapt add adjust advance aggregate align allocate allow alter
    analyse analyze announce append apply arrange assemble assert assign associate attach attempt
    authenticate avoid backtrack balance begin bind block bootstrap broadcast buffer build bump cache calculate
    call cancel canonicalize capture cast catch center change check choose clamp classify clean cleanup clear clip
    clone close coalesce coerce collapse collect combine commit compact compare compile complete compose compress
    compute concatenate configure confirm connect consider construct consume continue convert copy correct count
    create crop deactivate decide declare decode decompose decompress decrement decrypt deduce deduplicate defer
    define delegate delete demote derive deserialize destroy detach detect determine disable discard disconnect
    dispatch display distribute divide download downsample draw drop dump duplicate emit emulate enable encode
    encrypt enforce enqueue ensure enter enumerate erase escape establish estimate evaluate evict examine exclude
    execute exit expand export expose extend extract factor fall fetch figure fill filter finalize find finish fix
    flag flatten flip flush fold follow force format forward free fuse gather generate get give grab group grow
    guarantee guard guess handle hash hide hook identify ignore import include increase increment index infer
    inherit inject insert inspect install instantiate interpolate intersect invalidate invert invoke isolate issue
    iterate join jump keep kill launch lay leave limit link load locate lock log look loop lower make manage map
    mark mask match materialize measure merge migrate mirror modify monitor mount move multiply mutate narrow
    negate normalise normalize notify obtain omit open optimize order overlay override overwrite pack pad paint
    parse partition pass patch peek perform permute persist pick place plot poll pop populate precompute preload
    prepare prepend preserve prevent print probe process produce project promote prompt propagate protect provide
    prune publish pull purge push put query queue quote raise read reallocate rearrange rebuild recalculate
    receive recompute reconstruct record recover recurse redirect redistribute reduce refine refresh register
    reject release reload remap remember remove rename render reorder repeat replace replay report request reserve
    reset reshape resize resolve respect restart restore restrict resume retain retrieve retry return reuse
    reverse revert rewind rewrite roll rotate round route run sample sanitize save scale scan schedule search seek
    select send separate serialize set setup shift shorten show shrink shuffle shut sign simplify simulate skip
    slice snap sort spawn specify split squash stash stop store stream stretch strip subscribe substitute subtract
    sum suppress swap switch sync synchronize take terminate toggle tokenize track transfer transform translate
    transpose traverse treat trigger trim truncate try turn undo unescape unify uninstall unlink unlock unpack
    unregister unset unwrap update upgrade upload use validate verify visit wait walk warn wrap write yield zero
    zip
    """.split()
)
"""What code does, in the imperative."""

NO_VERBS = frozenset(
    """
    a about above across after against all along also although among an and another any are around as at because
    before behind being below beneath beside between both but by can cannot case caution could default despite did
    do does down due during each either else end even every example except few finally for from given got had has have
    here hit how however if important in index inside instead into is it its just last later least length less let
    like list many maybe me might more most much must my name near neither never next no none nor not found note nothing
    now number of off on once one only onto or other otherwise our out outside over part per perhaps position
    quite rather same several shall should side since size so some something sometimes start still such than that
    the their them then there these they this those though through throughout till to too toward towards type
    under unless unlike until up upon us usually value very via warning was we were what when where whereas
    whether which while who whose why will with within without would yes yet you your
    """.split()
)
"""Words that occur before an article without being verbs, and nouns that look like verbs."""

ARTICLES = frozenset("the a an all any each every our its their both whether only".split())
"""Words that follow a verb: an unknown word before one of them is a verb."""

POINTERS = frozenset("it this that them these those here there so not is are was be to of".split())
"""Words that refer outside the sentence when they follow its verb."""

AUXILIARIES = frozenset("must should can cannot will would may might could has have had does did do is are was".split())
"""Words that make the word before them a noun: "check must …" is not imperative."""

FILLERS = frozenset(
    """
    a an and any are as at be been but by can class do does done each for from function get gets given has have if
    in instance into is it its made make makes may method new not object of on one only or other our out over
    return returns set sets should so some such sure that the their them then there these they thing things this
    those to up use used uses using value values was way ways we when where which will with without you your
    """.split()
)
"""Words that do not distinguish one function from another."""

COMMENT_FILLERS = (
    FILLERS
    | NO_VERBS
    | frozenset(
        """
    actually already always be been can't code doesn't doing don't done first get gets go got handle he i isn't
    it's keep know let's make need put really see set she simply sure take that's there's thing things try use
    values want way ways we're we've won't
    """.split()
    )
)
"""Words that do not distinguish one block of statements from another."""
