-- The key (0002-search.sql) that a text has where it sorts as people sort it: the twin of src/shared/texts/text-order.ts, which says what it means. Indexes hold these keys, so the
-- functions never change; a new order gets functions of another name.
--
-- `pairs`: letters of their own in a language, and where they come: letter, place, letter, place, …
CREATE FUNCTION quoin_sorted(key text, pairs text[]) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 2000 AS $$
DECLARE
  plain text COLLATE "C" := substr(left(key, 1001), 2);
BEGIN
  IF NOT starts_with(key, 's') THEN
    RETURN key;
  END IF;
  FOR at IN 1 .. cardinality(pairs) / 2 LOOP
    plain := replace(plain, pairs[2 * at - 1], pairs[2 * at]);
  END LOOP;
  IF octet_length(plain) > length(plain) THEN
    IF plain ~ (U&'[\00a0-ɏ]' COLLATE "C") THEN
      plain := translate(plain,
        U&'«»ªÀÁÂÃÄÅàáâãäåĀāĂăĄąǍǎǞǟǠǡǺǻȀȁȂȃȦȧÇçĆćĈĉĊċČčÐðĎďĐđÈÉÊËèéêëĒēĔĕĖėĘęĚěȄȅȆȇȨȩĜĝĞğĠġĢģǦǧǴǵĤĥĦħȞȟÌÍÎÏìíîïĨĩĪīĬĭĮįİıǏǐȈȉȊȋĴĵǰĶķǨǩĹĺĻļĽľŁłÑñŃńŅņŇňǸǹºÒÓÔÕÖØòóôõöøŌōŎŏŐőƠơǑǒǪǫǬǭǾǿȌȍȎȏȪȫȬȭȮȯȰȱŔŕŖŗŘřȐȑȒȓŚśŜŝŞşŠšſȘșŢţŤťŦŧȚțÙÚÛÜùúûüŨũŪūŬŭŮůŰűŲųƯưǓǔǕǖǗǘǙǚǛǜȔȕȖȗŴŵÝýÿŶŷŸȲȳŹźŻżŽžÆǢǣǼǽƷǮǯ\00a0ÞŊŒɃƂƄƇƋƑǶƘȽȠƢƤƧƬƳƵƸƼǷƎǤȜȢȤȻɁɆɈɊɌɎƁƆƉƊƏƐƓƔƗƖƜƝƟƦƩƮɄƱƲɅµȺȾ',
        '""aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaccccccccccddddddeeeeeeeeeeeeeeeeeeeeeeeegggggggggggghhhhhhiiiiiiiiiiiiiiiiiiiiiiiijjjkkkkllllllllnnnnnnnnnnooooooooooooooooooooooooooooooooooooooooorrrrrrrrrrsssssssssssttttttttuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuwwyyyyyyyyzzzzzzæææææʒʒʒ þŋœƀƃƅƈƌƒƕƙƚƞƣƥƨƭƴƶƹƽƿǝǥȝȣȥȼɂɇɉɋɍɏɓɔɖɗəɛɠɣɨɩɯɲɵʀʃʈʉʊʋʌμⱥⱦ');
      plain := replace(plain, 'ß', 'ss');
      plain := replace(plain, 'æ', 'ae');
      plain := replace(plain, 'œ', 'oe');
      plain := replace(plain, 'þ', 'th');
      plain := replace(plain, 'ĳ', 'ij');
      plain := replace(plain, 'Ĳ', 'ij');
    END IF;
    IF plain ~ ('[Ḁ-›]' COLLATE "C") THEN
      plain := translate(plain,
        U&'\2002\2003\2009\202f“”„‟‘’‚‛‹›\2010\2011\2012–—―ḀḁẠạẢảẤấẦầẨẩẪẫẬậẮắẰằẲẳẴẵẶặḂḃḄḅḆḇḈḉḊḋḌḍḎḏḐḑḒḓḔḕḖḗḘḙḚḛḜḝẸẹẺẻẼẽẾếỀềỂểỄễỆệḞḟḠḡḢḣḤḥḦḧḨḩḪḫẖḬḭḮḯỈỉỊịḰḱḲḳḴḵḶḷḸḹḺḻḼḽḾḿṀṁṂṃṄṅṆṇṈṉṊṋṌṍṎṏṐṑṒṓỌọỎỏỐốỒồỔổỖỗỘộỚớỜờỞởỠỡỢợṔṕṖṗṘṙṚṛṜṝṞṟṠṡṢṣṤṥṦṧṨṩẛṪṫṬṭṮṯṰṱẗṲṳṴṵṶṷṸṹṺṻỤụỦủỨứỪừỬửỮữỰựṼṽṾṿẀẁẂẃẄẅẆẇẈẉẘẊẋẌẍẎẏẙỲỳỴỵỶỷỸỹẐẑẒẓẔẕẞỺỼỾ',
        '    """"''''''''''''------aaaaaaaaaaaaaaaaaaaaaaaaaabbbbbbccddddddddddeeeeeeeeeeeeeeeeeeeeeeeeeeffgghhhhhhhhhhhiiiiiiiikkkkkkllllllllmmmmmmnnnnnnnnoooooooooooooooooooooooooooooooopppprrrrrrrrssssssssssstttttttttuuuuuuuuuuuuuuuuuuuuuuuuvvvvwwwwwwwwwwwxxxxyyyyyyyyyyyzzzzzzßỻỽỿ');
      plain := replace(plain, 'ß', 'ss');
    END IF;
    IF plain ~ ('[Ͱ-Ͽἀ-῿]' COLLATE "C") THEN
      plain := translate(plain,
        'ΆΑάἀἁἂἃἄἅἆἇἈἉἊἋἌἍἎἏὰᾀᾁᾂᾃᾄᾅᾆᾇᾈᾉᾊᾋᾌᾍᾎᾏᾰᾱᾲᾳᾴᾶᾷᾸᾹᾺᾼΒϐΈΕέϵἐἑἒἓἔἕἘἙἚἛἜἝὲῈΉΗήἠἡἢἣἤἥἦἧἨἩἪἫἬἭἮἯὴᾐᾑᾒᾓᾔᾕᾖᾗᾘᾙᾚᾛᾜᾝᾞᾟῂῃῄῆῇῊῌΘϑϴΊΐΙΪίϊἰἱἲἳἴἵἶἷἸἹἺἻἼἽἾἿὶῐῑῒῖῗῘῙῚΚϰΌΟόὀὁὂὃὄὅὈὉὊὋὌὍὸῸΠϖΡϱῤῥῬΣςϲϹΎΥΫΰϋύϒϓϔὐὑὒὓὔὕὖὗὙὛὝὟὺῠῡῢῦῧῨῩῪΦϕΏΩώὠὡὢὣὤὥὦὧὨὩὪὫὬὭὮὯὼᾠᾡᾢᾣᾤᾥᾦᾧᾨᾩᾪᾫᾬᾭᾮᾯῲῳῴῶῷῺῼͺͰͲͶϽϾϿΓΔΖΛΜΝΞΤΧΨϏϘϚϜϞϠϢϤϦϨϪϬϮͿϷϺ',
        'αααααααααααααααααααααααααααααααααααααααααααααααββεεεεεεεεεεεεεεεεεεηηηηηηηηηηηηηηηηηηηηηηηηηηηηηηηηηηηηηηηηηηηθθθιιιιιιιιιιιιιιιιιιιιιιιιιιιιιιικκοοοοοοοοοοοοοοοοοππρρρρρσσσσυυυυυυυυυυυυυυυυυυυυυυυυυυυυυυφφωωωωωωωωωωωωωωωωωωωωωωωωωωωωωωωωωωωωωωωωωωω ͱͳͷͻͼͽγδζλμνξτχψϗϙϛϝϟϡϣϥϧϩϫϭϯϳϸϻ');
    END IF;
    IF plain ~ ('[Ѐ-ԯ]' COLLATE "C") THEN
      plain := translate(plain,
        'АӐӑӒӓЃГѓЀЁЕѐёӖӗЖӁӂӜӝЗӞӟЍИѝӢӣӤӥЌКќОӦӧУӮӯӰӱӲӳЧӴӵЫӸӹЭӬӭѴѶѷӘӚӛӨӪӫБВДЙЛМНПРСТФХЦШЩЪЬЮЯЂЄЅІЇЈЉЊЋЎЏѠѢѤѦѨѪѬѮѰѲѸѺѼѾҀҊҌҎҐҒҔҖҘҚҜҞҠҢҤҦҨҪҬҮҰҲҴҶҸҺҼҾӃӅӇӉӋӍӀӔӠӶӺӼӾԀԂԄԆԈԊԌԎԐԒԔԖԘԚԜԞԠԢԤԦԨԪԬԮ',
        'ааааагггееееееежжжжжзззииииииикккоооууууууучччыыыэээѵѵѵәәәөөөбвдйлмнпрстфхцшщъьюяђєѕіїјљњћўџѡѣѥѧѩѫѭѯѱѳѹѻѽѿҁҋҍҏґғҕҗҙқҝҟҡңҥҧҩҫҭүұҳҵҷҹһҽҿӄӆӈӊӌӎӏӕӡӷӻӽӿԁԃԅԇԉԋԍԏԑԓԕԗԙԛԝԟԡԣԥԧԩԫԭԯ');
      plain := replace(plain, 'й', U&'и\07fc');
      plain := replace(plain, 'і', U&'и\07fd');
      plain := replace(plain, 'ї', U&'и\07fe');
      plain := replace(plain, 'ј', U&'и\07ff');
      plain := replace(plain, 'є', U&'е\07ff');
      plain := replace(plain, 'ґ', U&'г\07ff');
      plain := replace(plain, 'ў', U&'у\07ff');
      plain := replace(plain, 'ђ', U&'д\07ff');
      plain := replace(plain, 'љ', U&'л\07ff');
      plain := replace(plain, 'њ', U&'н\07ff');
      plain := replace(plain, 'ћ', U&'т\07ff');
      plain := replace(plain, 'џ', U&'ч\07ff');
    END IF;
    IF plain ~ ('[Ա-Ֆ]' COLLATE "C") THEN
      plain := translate(plain,
        'ԱԲԳԴԵԶԷԸԹԺԻԼԽԾԿՀՁՂՃՄՅՆՇՈՉՊՋՌՍՎՏՐՑՒՓՔՕՖ',
        'աբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆ');
    END IF;
    IF plain ~ (U&'[\3000-ヿ！-～]' COLLATE "C") THEN
      plain := translate(plain,
        U&'ＡａＢｂＣｃＤｄＥｅＦｆＧｇＨｈＩｉＪｊＫｋＬｌＭｍＮｎＯｏＰｐＱｑＲｒＳｓＴｔＵｕＶｖＷｗＸｘＹｙＺｚゔウヴがカガぎキギぐクグげケゲごコゴざサザじシジずスズぜセゼぞソゾだタダぢチヂづツヅでテデどトドばぱハバパびぴヒビピぶぷフブプべぺヘベペぼぽホボポワヷヰヸヱヹヲヺ\3000！＂＃＄％＆＇（）＊＋，－．／０１２３４５６７８９：；＜＝＞？＠［＼］＾＿｀｛｜｝～ァアィイゥェエォオッナニヌネノマミムメモャヤュユョヨラリルレロヮンヵヶゞヾ',
        'aabbccddeeffgghhiijjkkllmmnnooppqqrrssttuuvvwwxxyyzzうううかかかきききくくくけけけこここさささしししすすすせせせそそそたたたちちちつつつてててとととはははははひひひひひふふふふふへへへへへほほほほほわわゐゐゑゑをを !"#$%&''()*+,-./0123456789:;<=>?@[\]^_`{|}~ぁあぃいぅぇえぉおっなにぬねのまみむめもゃやゅゆょよらりるれろゎんゕゖゝヽ');
    END IF;
    IF plain ~ (U&'[\0300-\036f]' COLLATE "C") THEN
      plain := regexp_replace(plain, U&'[\0300-\036f]' COLLATE "C", '', 'g');
    END IF;
  END IF;
  RETURN 's' || translate(lower(plain COLLATE "C"), '{|}~', '    ') || chr(1) || substr(key, 2);
END $$;
